/** An update in a process of its own, which kills itself where the test says. */
import { createPublicKey } from 'node:crypto';
import { Home } from '../../src/cli/update/home.ts';
import { type Step, update } from '../../src/cli/update/steps.ts';

export interface UpdateProcessOptions {
  home: string;
  source: string;
  publicKey: string;
  dataDir: string;
  config: string;
  patienceMs: number;
  killAt: Step | null;
  again: boolean;
}

if (import.meta.main) await run(JSON.parse(process.argv[2] ?? '{}'));

async function run({ home, publicKey, killAt, ...options }: UpdateProcessOptions): Promise<void> {
  const done = await update({
    ...options,
    home: new Home(home),
    key: createPublicKey(publicKey),
    allowOlder: false,
    networkIsThere: async () => true,
    onStep: (step) => {
      process.stdout.write(`step ${step}\n`);
      if (step === killAt) process.kill(process.pid, 'SIGKILL');
    },
  });
  process.stdout.write(`${JSON.stringify(done)}\n`);
}
