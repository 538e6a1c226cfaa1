/** The service under attack: a real `platen up`, two tenants, and what an honest caller has there. */
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { z } from 'zod';
import type { IntegrationCreated } from '../../src/contract/admin.ts';
import { CONSOLE_HEADER } from '../../src/contract/people.ts';
import { startRedisAlone } from '../kit/servers/start-servers.ts';
import { PlatenUp, temporaryDirectory } from '../kit/service/platen.ts';
import { PASSWORD, tokenIn } from '../kit/service/signed-in.ts';
import { HostileProvider } from './sign-ins.ts';
import { SnmpDevices } from './snmp-devices.ts';
import { StolenAgent } from './stolen-agent.ts';

const size = { width: 101.6, height: 152.4 };
/** Templates by what each does with a value. */
const TEMPLATES = {
  plain: { type: 'text', x: 4, y: 4, text: '{{v}}', size: 4 },
  wrapped: { type: 'text', x: 2, y: 2, width: 95, height: 148, text: '{{v}}', size: 3, overflow: 'shrink' },
  times: { type: 'text', x: 4, y: 4, text: "{{v | times:'99999999999999999999'}}", size: 4 },
  thousands: { type: 'text', x: 4, y: 4, text: "{{v | number:2:',':'.'}}", size: 4 },
  qr: { type: 'barcode', symbology: 'qr', value: '{{v}}', x: 10, y: 10 },
} as const;
export type TemplateName = keyof typeof TEMPLATES;

export type Reply = { status: number; text: string };
export type Sent = {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  agent?: Agent;
};

/** Where the service has its agents' lanes. */
export type Place = 'redis' | 'gateway';

/** The client address of the attackers' raw connections: not the one from which the service is watched. */
const STRANGER = '127.0.0.2';
/** That of people who look at the console. */
const OFFICE = '127.0.1.1';

export class Target {
  readonly up: PlatenUp;
  /** `attacker` attacks with credentials; `honest` wants to work meanwhile. */
  readonly attacker: IntegrationCreated;
  readonly honest: IntegrationCreated;
  readonly templates: Readonly<Record<TemplateName, string>>;
  readonly honestTemplate: string;
  readonly #stolenAgent: StolenAgent | undefined;
  /** At which people of the attacker's tenant sign in. */
  readonly provider: HostileProvider;
  readonly snmpDevices: SnmpDevices | undefined;
  readonly #stack: AsyncDisposableStack;
  readonly #sockets = new Set<Socket>();

  #tokens = { attacker: '', honest: '' };
  #operator: string | undefined;
  #documents: string | undefined;

  private constructor(
    parts: Pick<
      Target,
      'up' | 'attacker' | 'honest' | 'templates' | 'honestTemplate' | 'provider' | 'snmpDevices'
    > & { stolenAgent: StolenAgent | undefined; stack: AsyncDisposableStack },
  ) {
    this.up = parts.up;
    this.attacker = parts.attacker;
    this.honest = parts.honest;
    this.templates = parts.templates;
    this.honestTemplate = parts.honestTemplate;
    this.#stolenAgent = parts.stolenAgent;
    this.provider = parts.provider;
    this.snmpDevices = parts.snmpDevices;
    this.#stack = parts.stack;
  }

  /**
   * @param place `redis`: where agents have users of Redis; `gateway`: where they join over the service's own port
   * @param alone whether its agent listens to everybody on this machine
   */
  static async start(place: Place, alone: boolean): Promise<Target> {
    await using stack = new AsyncDisposableStack();
    const directory = stack.use(await temporaryDirectory());
    const redis = place === 'redis' ? await startRedisAlone() : undefined;
    stack.defer(async () => await redis?.stop());
    const provider = stack.use(await HostileProvider.start());
    const snmpDevices = alone ? stack.use(await SnmpDevices.start()) : undefined;
    const agent = `${directory.path}/agent.json`;
    const listens = { dnsSd: true, interfaces: ['127.0.0.1'], snmp: { targets: [SnmpDevices.ADDRESS] } };
    await writeFile(agent, JSON.stringify({ discovery: alone ? listens : {} }));
    const up = await PlatenUp.start({
      dataDir: `${directory.path}/data`,
      args: ['--virtual', '1', '--virtual-ipp', '1', '--agent-config', agent],
      env: {
        LOG_LEVEL: 'warn',
        ...(redis !== undefined && { REDIS_URL: redis.redisUrl }),
        PLATEN_IPP: 'true',
        ...(alone && { PLATEN_IPP_ANNOUNCE: 'true' }),
        PLATEN_SSO_ISSUER: provider.url,
        PLATEN_SSO_CLIENT_ID: 'platen',
        PLATEN_SSO_CLIENT_SECRET: 'the-secret-of-this-client',
        PLATEN_SSO_TENANT: 'attacker',
      },
    });
    stack.defer(async () => void (await up.stop()));
    const made: Record<string, string> = {};
    const template = (name: string, element: object) => ({
      name,
      ...size,
      fields: [{ name: 'v' }],
      elements: [element],
    });
    for (const tenant of ['attacker', 'honest']) await up.admin.createTenant({ id: tenant, name: tenant });
    for (const [name, element] of Object.entries(TEMPLATES)) {
      made[name] = (await up.admin.importTemplate('attacker', template(name, element))).id;
    }
    const scope = ['jobs:enqueue', 'jobs:read', 'labels:render'] as const;
    const attacker = await up.admin.createIntegration('attacker', { name: 'attacker', scope: [...scope] });
    const honest = await up.admin.createIntegration('honest', { name: 'honest', scope: [...scope] });
    return new Target({
      up,
      attacker,
      honest,
      templates: z
        .object({
          plain: z.string(),
          wrapped: z.string(),
          times: z.string(),
          thousands: z.string(),
          qr: z.string(),
        })
        .parse(made),
      stolenAgent: redis && stack.use(await StolenAgent.take(redis.redisUrl)),
      provider,
      snmpDevices,
      honestTemplate: (await up.admin.importTemplate('honest', template('honest', TEMPLATES.plain))).id,
      stack: stack.move(),
    });
  }

  /** @throws Error where agents have no users of Redis */
  get stolenAgent(): StolenAgent {
    if (this.#stolenAgent === undefined) throw new Error('no Redis');
    return this.#stolenAgent;
  }

  get attackerToken(): string {
    return this.#tokens.attacker;
  }

  /** New tokens, which outlast any one attack. */
  async signIn(): Promise<void> {
    this.#tokens = { attacker: await tokenOf(this.attacker), honest: await tokenOf(this.honest) };
  }

  async stop(): Promise<void> {
    this.hangUp();
    await this.#stack.disposeAsync();
  }

  /** Memory that the process has, and the most that it has had so far, bytes. */
  async memory(): Promise<{ now: number; peak: number }> {
    const status = await readFile(`/proc/${this.up.pid}/status`, 'utf8');
    const bytes = (name: string) =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
    return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
  }

  /** Makes the most memory begin anew. */
  async forgetPeak(): Promise<void> {
    await writeFile(`/proc/${this.up.pid}/clear_refs`, '5');
  }

  /** One request; status 0 where the connection broke. */
  send({ method = 'POST', path, headers = {}, body, agent }: Sent, signal?: AbortSignal): Promise<Reply> {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const asked = request(
      this.up.url + path,
      { method, agent: agent ?? false, headers, ...(signal === undefined ? {} : { signal }) },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('close', () => {
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
        });
      },
    );
    asked.once('error', (error) => resolve({ status: 0, text: error.message }));
    asked.end(body);
    return promise;
  }

  /** The headers of a job request of the attacker's. */
  jobHeaders(key = `k-${Math.random()}`): Record<string, string> {
    return {
      authorization: `Bearer ${this.attackerToken}`,
      'x-tenant': 'attacker',
      'content-type': 'application/json',
      'idempotency-key': key,
    };
  }

  /** So many more service accounts of the attacker's; their tokens. */
  async moreAttackers(count: number): Promise<string[]> {
    const account = async (name: string) =>
      tokenOf(await this.up.admin.createIntegration('attacker', { name, scope: ['jobs:enqueue'] }));
    return await Promise.all(Array.from({ length: count }, (_, index) => account(`attacker ${index}`)));
  }

  /**
   * Opens the console's stream of events as a new person of the tenant, from the address of an office.
   * @returns a function that tells whether it is still open
   */
  async stream(tenant: string): Promise<() => boolean> {
    const cookie = await this.#person(tenant, 'viewer');
    const said = `GET /app/events HTTP/1.1\r\nhost: x\r\ncookie: ${cookie}\r\n\r\n`;
    const socket = this.#connect(OFFICE);
    const [answer] = await Promise.all([once(socket, 'data'), socket.write(said)]);
    if (!/^HTTP\/1\.1 200/.test(String(answer))) throw new Error(`no stream: ${String(answer)}`);
    return () => !socket.resume().closed;
  }

  /** The headers of a person of the attacker's, who may see labels and edit templates. */
  async operator(): Promise<Record<string, string>> {
    this.#operator ??= await this.#person('attacker', 'operator');
    return { cookie: this.#operator, 'content-type': 'application/json', [CONSOLE_HEADER]: '1' };
  }

  /** A template of the attacker's that prints documents. */
  async documentTemplate(): Promise<string> {
    const made = { name: 'documents', ...size, language: 'document', fields: [{ name: 'document' }] };
    this.#documents ??= (await this.up.admin.importTemplate('attacker', made)).id;
    return this.#documents;
  }

  /** Where IPP offers a virtual printer, and the attacker's key there. */
  async offered(): Promise<{ path: string; key: string }> {
    const { printNodeKey: key = '' } = this.attacker;
    const printer = (await this.up.admin.printers()).find((one) => one.name === 'virtual-1');
    if (printer === undefined) throw new Error('no printer virtual-1');
    const { ipp } = await this.up.admin.actOnPrinter(printer, 'offer');
    return { path: new URL(String(ipp)).pathname, key };
  }

  /** The port of a virtual printer. */
  async portOf(name: string): Promise<number> {
    const printer = (await this.up.admin.printers()).find((one) => one.name === name);
    if (printer === undefined) throw new Error(`no printer ${name}`);
    return Number(new URL(printer.uri).port);
  }

  /** Invites somebody to the tenant. @returns the cookie of their session */
  async #person(tenant: string, role: string): Promise<string> {
    const { url } = await this.up.admin.invite(tenant, { login: `p${Math.random()}@example.com`, role });
    const accepted = await fetch(`${this.up.url}/app/invitations/accept`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [CONSOLE_HEADER]: '1' },
      body: JSON.stringify({ token: tokenIn(url), password: PASSWORD }),
    });
    return accepted.headers.get('set-cookie')?.split(';')[0] ?? '';
  }

  /** Sends the honest caller's request, of `large` bytes about; `ms` is how long its answer took. */
  async honestRequest(large = 0): Promise<{ status: number; ms: number }> {
    const data = Array.from({ length: 1 + large / 10_000 }, () => ({
      v: 'A-1',
      ...(large > 0 && { filling: 'x'.repeat(10_000) }),
    }));
    const since = performance.now();
    const { status } = await this.send({
      path: '/v2/jobs/validate',
      headers: {
        authorization: `Bearer ${this.#tokens.honest}`,
        'x-tenant': 'honest',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ idT: this.honestTemplate, printer: 'virtual-1', data }),
    });
    return { status, ms: performance.now() - since };
  }

  #connect(localAddress: string): Socket {
    const { hostname, port } = new URL(this.up.url);
    const socket = connect({ host: hostname, port: Number(port), localAddress });
    this.#sockets.add(socket);
    return socket.once('close', () => this.#sockets.delete(socket)).on('error', () => undefined);
  }

  /** Opens a connection that sends `said` and reads nothing. It stays open until `hangUp`. */
  async dial(said: string | Uint8Array): Promise<void> {
    const socket = this.#connect(STRANGER).pause();
    await new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
      socket.write(said, () => resolve());
    });
  }

  /** Sends a little more on each open connection. */
  drip(): void {
    for (const socket of this.#sockets) socket.write(' ');
  }

  hangUp(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

export function tokenForm(account: IntegrationCreated, secret = account.apiSecret): string {
  return new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: account.apiKey,
    client_secret: secret,
  }).toString();
}

async function tokenOf(account: IntegrationCreated): Promise<string> {
  const response = await fetch(account.tokenUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: tokenForm(account),
  });
  return z.object({ access_token: z.string() }).parse(await response.json()).access_token;
}
