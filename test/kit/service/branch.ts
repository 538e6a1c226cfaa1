/** Another site as its people have it: `platen agent` as a package has it, in the environment of that site, and a printer. */
import { createHash, randomUUID, X509Certificate } from 'node:crypto';
import { expect } from 'vitest';
import { invitationMade } from '../../../src/contract/agent-view.ts';
import { Directories, TestPrinter } from '../agent/site.ts';
import { serialId } from '../agent/use-site.ts';
import { PLATEN } from '../programs/built.ts';
import { type Program, Programs } from '../programs/programs.ts';
import { jobIdOf, type ServiceHarness } from './harness.ts';
import { NUMBERED } from './small-label.ts';

/** How long a process takes that enrols or examines, on a busy machine, ms. */
const COMMAND_MS = 90_000;

export class Branch {
  readonly directories = new Directories();
  readonly #programs = new Programs();
  readonly #printers: TestPrinter[] = [];
  readonly #service: ServiceHarness;
  readonly #tenant: string;

  /** @param tenant of the service, whose agents these are */
  constructor(service: ServiceHarness, tenant: string) {
    this.#service = service;
    this.#tenant = tenant;
  }

  async invite(): Promise<string> {
    const asked = { name: 'Dock', tenant: this.#tenant };
    const { body } = await this.#service.admin('POST', '/agents/invitations', asked);
    return invitationMade.parse(body).url;
  }

  /** `platen agent enroll` */
  async enroll(
    invitation: string,
    data: string,
    env: NodeJS.ProcessEnv,
  ): Promise<{ code: number | null; said: string }> {
    const program = this.#programs.start(PLATEN, ['agent', 'enroll', invitation, '--data', data], { env });
    return { code: await program.exited(COMMAND_MS), said: program.said() };
  }

  /** `platen agent`, with a printer of its own. */
  async start(
    data: string,
    env: NodeJS.ProcessEnv,
  ): Promise<{ agent: Program; printer: TestPrinter; id: string }> {
    const serial = randomUUID();
    const printer = new TestPrinter(this.directories, { serial });
    await printer.start();
    this.#printers.push(printer);
    const words = ['agent', '--data', data, '--printer', printer.uri];
    return { agent: this.#programs.start(PLATEN, words, { env }), printer, id: serialId(serial) };
  }

  /** What `platen doctor` says of the service that the agent has enrolled with. */
  async examined(data: string, env: NodeJS.ProcessEnv): Promise<string> {
    const program = this.#programs.start(PLATEN, ['doctor', '--data', data], { env });
    await program.exited(COMMAND_MS);
    return /^.*service elsewhere: .*\n.*/m.exec(program.said())?.[0] ?? program.said();
  }

  /** Resolves when a label is on the printer. @param service which instance is asked */
  async prints(
    { printer, id }: { printer: TestPrinter; id: string },
    service = this.#service,
  ): Promise<void> {
    const printers = async () => (await service.admin('GET', `/printers?tenant=${this.#tenant}`)).text;
    await expect.poll(printers, { timeout: 120_000 }).toMatch(new RegExp(`"id":"${id}"[^{]*"status":"idle"`));
    const idT = await service.template(this.#tenant, NUMBERED);
    const before = printer.odometer;
    const body = { idT, printerId: id, data: [{ n: '1' }] };
    const accepted = await service.admin('POST', `/tenants/${this.#tenant}/jobs`, body);
    expect(accepted.status, accepted.text).toBe(201);
    const job = async () => (await service.admin('GET', `/jobs/${jobIdOf(accepted)}`)).text;
    await expect.poll(job, { timeout: 120_000 }).toContain('"status":"printed"');
    expect(printer.odometer).toBe(before + 1);
  }

  /** Ends its processes and printers. */
  async end(): Promise<void> {
    await this.#programs.end();
    for (const printer of this.#printers.splice(0)) await printer.stop();
  }
}

/** SHA-256 of a certificate's public key, as the page makes it for an invitation. */
export function pinOf(cert: string): string {
  const der = new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('base64url');
}
