/** What the tests of the interface document (`shared/interface.md`) share: tenants, accounts, templates, printers. */
import type { PrinterDescription } from '../../../src/contract/printer.ts';
import { type Answer, type CallOptions, FORMAT_PDF, newKey, PRINTER, ServiceHarness } from './harness.ts';

const ZPL_TEMPLATE = { name: 'Raw', language: 'zpl', source: '^XA^FO10,10^A0N,30^FD{{sku}}^FS^XZ' };
const NO_FIELDS = {
  name: 'Fragile',
  width: 101.6,
  height: 152.4,
  elements: [{ type: 'text', x: 4, y: 4, text: 'FRAGILE', size: 6 }],
};
/** Of another tenant. */
export const GLOBEX_PRINTER = 'serial-aaaaaaaaaaaa';
export const TWIN_2 = 'serial-222222222222';
/** Was there, and is not any more. */
export const LEFT = 'serial-999999999999';
export const PDF_ONLY = 'serial-555555555555';
/** What the agent of the tenant serves. */
export const PRINTERS: Partial<PrinterDescription>[] = [
  {},
  { id: 'serial-111111111111', name: 'Twin' },
  { id: TWIN_2, name: 'Twin' },
  { id: PDF_ONLY, name: 'Office', formats: [FORMAT_PDF] },
];

export class InterfaceSite {
  readonly tokens = { good: '', reader: '', other: '', broke: '' };
  readonly ids = { template: '', other: '', raw: '', plain: '', broke: '' };
  #service: ServiceHarness | null = null;

  get service(): ServiceHarness {
    if (this.#service === null) throw new Error('the site has not been started');
    return this.#service;
  }

  async start(): Promise<void> {
    const service = await ServiceHarness.start({
      config: { extraRoutes: false, limits: { bodyBytes: 64 * 1024, records: 50, labels: 1_000 } },
    });
    this.#service = service;
    await service.tenant('acme');
    await service.tenant('globex');
    await service.tenant('broke', 3);
    this.tokens.good = await service.token(await service.integration('acme'));
    this.tokens.reader = await service.token(await service.integration('acme', ['jobs:read']));
    this.tokens.other = await service.token(await service.integration('globex'));
    this.tokens.broke = await service.token(await service.integration('broke'));
    this.ids.template = await service.template('acme');
    this.ids.raw = await service.template('acme', ZPL_TEMPLATE);
    this.ids.plain = await service.template('acme', NO_FIELDS);
    this.ids.other = await service.template('globex');
    await service.template('globex', { ...NO_FIELDS, name: 'Of globex alone' });
    this.ids.broke = await service.template('broke');
    await service.agent([...PRINTERS, { id: LEFT, name: 'Left behind' }]);
    await service.agent(PRINTERS);
    await service.agent([{ id: GLOBEX_PRINTER, name: 'Globex only' }], {
      agentId: 'agent-globex',
      tenantId: 'globex',
    });
  }

  async stop(): Promise<void> {
    await this.#service?.stop();
  }

  /** A good request; a case changes what it is about. */
  payload(changes: Record<string, unknown> = {}): Record<string, unknown> {
    return { idT: this.ids.template, printerId: PRINTER, data: [{ sku: 'A-1', name: 'Bolt' }], ...changes };
  }

  enqueue(options: CallOptions = {}): Promise<Answer> {
    return this.service.call('/v2/jobs', {
      token: this.tokens.good,
      tenant: 'acme',
      key: newKey(),
      body: this.payload(),
      ...options,
    });
  }

  validate(options: CallOptions = {}): Promise<Answer> {
    return this.service.call('/v2/jobs/validate', {
      token: this.tokens.good,
      tenant: 'acme',
      body: this.payload(),
      ...options,
    });
  }

  async jobCount(): Promise<number> {
    const { rows } = await this.service.pool.query<{ count: number }>(
      'SELECT count(*)::int FROM platen.jobs',
    );
    return rows[0]?.count ?? -1;
  }
}
