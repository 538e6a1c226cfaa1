/** Net-SNMP's agent, on an address of 127.0.0.0/8, that says what the test tells it to. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * @param variables lines of `override`: `1.3.6.1.2.1.43.5.1.1.17.1 octet_str "123"`
 * @param version the only one that it answers
 */
export async function snmpd(
  address: string,
  port: number,
  variables: string[],
  version: 'v1' | 'v2c' = 'v2c',
): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'platen-test-snmpd-'));
  const configuration = join(root, 'snmpd.conf');
  await writeFile(
    configuration,
    [
      `agentAddress udp:${address}:${port}`,
      'com2sec ours 127.0.0.0/8 wards',
      `group ours ${version} ours`,
      'view all included .1',
      'access ours "" any noauth exact all none none',
      ...variables.map((variable) => `override ${variable}`),
    ].join('\n'),
  );
  const agent = spawn('snmpd', ['-f', '-Lo', '-C', '-c', configuration, '-p', join(root, 'pid')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, SNMP_PERSISTENT_DIR: root },
  });
  onTestFinished(async () => {
    const exited = once(agent, 'exit');
    if (agent.exitCode === null && agent.signalCode === null && agent.kill('SIGKILL')) await exited;
    await rm(root, { recursive: true, force: true });
  });
  let said = '';
  for await (const part of agent.stdout) {
    said += String(part);
    if (said.includes('NET-SNMP version')) break;
  }
  if (!said.includes('NET-SNMP version')) throw new Error(`snmpd did not start: ${said}`);
}
