/**
 * Redis as larger sites run it, in servers of a test's own: a cluster of three masters with a replica each, a master and a
 * replica behind three Sentinels, and one behind TLS with an authority of its own. All have a password; a cluster and
 * Sentinels may have TLS too, under the name `localhost` alone.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { type Program, Programs } from '../programs/programs.ts';
import { freePort } from '../wire/listening.ts';

const HOST = '127.0.0.1';
/** The host name in a fleet's certificates, which do not name its address. */
const NAME = 'localhost';
/** The user of a fleet with TLS besides the owner; user and password are given as docs/deployment.md says. */
const USER = 'platen-service';
/** A server that is silent for so long is down, ms. */
const DOWN_MS = 800;
const SLOTS = 16_384;
/** The user that replicas sign in as, so that a test can keep them out. */
const REPLICA = 'replica';

export interface FleetServer {
  port: number;
  /** Signed in as the owner, who may use all keys. */
  admin: Redis;
  program: Program;
}

/** Masters and replicas of which any may die. */
export interface Fleet {
  url: string;
  /** The server that has this key at the moment. */
  masterOf(key: string): Promise<FleetServer>;
  stop(): Promise<void>;
}

abstract class Servers {
  readonly directory = mkdtempSync(join(tmpdir(), 'platen-test-redis-'));
  /** The authority's certificate, where there is TLS. */
  readonly authority = join(this.directory, 'ca.pem');
  readonly password = randomBytes(12).toString('hex');
  readonly servers: FleetServer[] = [];
  readonly #programs = new Programs();

  async startServer(more: readonly string[]): Promise<FleetServer> {
    const port = await freePort();
    const lines = [
      `bind ${HOST}`,
      `port ${port}`,
      `requirepass ${this.password}`,
      `user ${REPLICA} on >${this.password} +psync +replconf +ping`,
      this.userLine,
      `masteruser ${REPLICA}`,
      `masterauth ${this.password}`,
      `dir ${this.directory}`,
      'save ""',
      'repl-diskless-sync-delay 0',
      ...more,
    ];
    const program = await this.startProgram(port, lines, []);
    const admin = await this.#connected(program, port);
    const server = { port, admin, program };
    this.servers.push(server);
    return server;
  }

  async startProgram(port: number, lines: readonly string[], args: readonly string[]): Promise<Program> {
    const file = join(this.directory, `${port}.conf`);
    writeFileSync(file, lines.join('\n'), { mode: 0o600 });
    return this.#programs.start('redis-server', [file, ...args]);
  }

  async stop(): Promise<void> {
    for (const { admin } of this.servers) admin.disconnect();
    await this.#programs.end('SIGKILL');
    rmSync(this.directory, { recursive: true, force: true });
  }

  async #connected(program: Program, port: number): Promise<Redis> {
    const admin = this.client(port);
    await program.until(async () => (await admin.ping().catch(() => '')) === 'PONG');
    return admin;
  }

  get userLine(): string {
    return `user ${USER} on >${this.password} ~* &* +@all`;
  }

  /** The TLS address of the servers or Sentinels at these ports, by their name and for `USER`. */
  secured([first, ...others]: readonly number[], what: string): string {
    const also = others.map((port) => `${NAME}:${port}`).join();
    const more = `also=${also}&ca=${encodeURIComponent(this.authority)}&family=4`;
    return `rediss://${USER}:${this.password}@${NAME}:${first}?${what}&${more}`;
  }

  /** Makes an authority, and a certificate for these names. Returns what a server's configuration says of it. */
  certified(names: string): string[] {
    const path = (name: string) => join(this.directory, name);
    const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const ca = ['-keyout', path('ca.key'), '-out', this.authority, '-days', '2', '-subj', '/CN=site'];
    openssl('req', '-x509', ...key, ...ca);
    openssl('req', ...key, '-keyout', path('key.pem'), '-out', path('request.pem'), '-subj', '/CN=redis');
    writeFileSync(path('names'), `subjectAltName=${names}`);
    const signer = ['-CA', this.authority, '-CAkey', path('ca.key'), '-CAcreateserial', '-days', '2'];
    const request = ['-in', path('request.pem'), '-out', path('cert.pem'), '-extfile', path('names')];
    openssl('x509', '-req', ...request, ...signer);
    return [
      'tls-auth-clients no',
      `tls-cert-file ${path('cert.pem')}`,
      `tls-key-file ${path('key.pem')}`,
      `tls-ca-cert-file ${this.authority}`,
    ];
  }

  client(port: number): Redis {
    const { password } = this;
    const admin = new Redis({ host: HOST, port, password, retryStrategy: () => 50, enableReadyCheck: false });
    admin.on('error', () => undefined);
    return admin;
  }
}

/** Three masters and their replicas; with TLS they are called by their name. */
export class RedisCluster extends Servers implements Fleet {
  readonly #tls: boolean;
  readonly #tlsPorts: number[] = [];

  constructor({ tls = false } = {}) {
    super();
    this.#tls = tls;
  }

  get url(): string {
    if (this.#tls) return this.secured(this.#tlsPorts, 'cluster=yes');
    const [first, ...others] = this.servers.map(({ port }) => port);
    const also = others.map((port) => `${HOST}:${port}`).join();
    return `redis://:${this.password}@${HOST}:${first}?cluster=yes&also=${also}`;
  }

  async start(): Promise<this> {
    const certified = this.#tls ? this.certified(`DNS:${NAME}`) : [];
    for (let at = 0; at < 6; at += 1) {
      const bus = await freePort();
      const port = await freePort();
      this.#tlsPorts.push(port);
      const { admin } = await this.startServer([
        'cluster-enabled yes',
        `cluster-port ${bus}`,
        `cluster-config-file nodes-${bus}.conf`,
        `cluster-node-timeout ${DOWN_MS}`,
        // A replica that was kept from its master may take its place too: what it lacks is lost then.
        'cluster-replica-validity-factor 0',
        ...(this.#tls ? [...certified, `tls-port ${port}`, 'tls-cluster yes', 'tls-replication yes'] : []),
        ...(this.#tls
          ? [`cluster-announce-hostname ${NAME}`, 'cluster-preferred-endpoint-type hostname']
          : []),
      ]);
      await admin.call('CLUSTER', 'SET-CONFIG-EPOCH', at + 1);
      if (at < 3) {
        const from = Math.ceil((SLOTS * at) / 3);
        await admin.call('CLUSTER', 'ADDSLOTSRANGE', from, Math.ceil((SLOTS * (at + 1)) / 3) - 1);
      }
      const [first] = this.servers;
      if (at === 0 || first === undefined) continue;
      await first.admin.call('CLUSTER', 'MEET', HOST, this.servers[at]?.port ?? 0, bus);
    }
    for (const [at, { admin, program }] of this.servers.entries()) {
      if (at < 3) continue;
      const master = String(await this.servers[at - 3]?.admin.call('CLUSTER', 'MYID'));
      await program.until(async () => String(await admin.call('CLUSTER', 'NODES')).includes(master));
      await program.until(() =>
        admin.call('CLUSTER', 'REPLICATE', master).then(
          () => true,
          () => false,
        ),
      );
    }
    for (const [at, { admin, program }] of this.servers.entries()) {
      await program.until(async () => {
        const state = String(await admin.call('CLUSTER', 'INFO'));
        const slots = await admin.call('CLUSTER', 'SLOTS');
        // Each range names its master and its replica.
        const whole = Array.isArray(slots) && slots.length === 3 && slots.every((one) => one.length === 4);
        return state.includes('cluster_state:ok') && whole && (at < 3 || (await isInStep(admin)));
      });
    }
    return this;
  }

  async masterOf(key: string): Promise<FleetServer> {
    for (const server of this.servers) {
      if (server.admin.status !== 'ready') continue;
      const own = await server.admin.exists(key).catch(() => null);
      if (own !== null && (await isMaster(server.admin))) return server;
    }
    throw new Error(`no server has the slot of ${key}`);
  }
}

/** A master, a replica, and three Sentinels of which two decide. */
export class SentinelSite extends Servers implements Fleet {
  readonly #name = 'platen';
  readonly #sentinels: number[] = [];
  readonly #tls: boolean;

  /** With TLS the Sentinels have users too. */
  constructor({ tls = false } = {}) {
    super();
    this.#tls = tls;
  }

  get url(): string {
    if (this.#tls) return this.secured(this.#sentinels, `sentinel=${this.#name}&sentinel-auth=yes`);
    const [first, ...others] = this.#sentinels;
    const also = others.map((port) => `${HOST}:${port}`).join();
    return `redis://:${this.password}@${HOST}:${first}?sentinel=${this.#name}&also=${also}`;
  }

  async start(): Promise<this> {
    // Sentinels name servers by their address, so the certificate has to name it too.
    const certified = this.#tls ? this.certified(`DNS:${NAME},IP:${HOST}`) : [];
    const secured = async () => {
      const own = await freePort();
      return { own, lines: this.#tls ? [...certified, `tls-port ${own}`, 'tls-replication yes'] : [] };
    };
    const [first, second] = [await secured(), await secured()];
    const master = await this.startServer(first.lines);
    const port = this.#tls ? first.own : master.port;
    const { admin, program } = await this.startServer([`replicaof ${HOST} ${port}`, ...second.lines]);
    await program.until(() => isInStep(admin));
    const sentinels: { program: Program; asked: Redis }[] = [];
    for (let at = 0; at < 3; at += 1) {
      const own = await freePort();
      const lines = [
        `bind ${HOST}`,
        `port ${this.#tls ? 0 : own}`,
        `dir ${this.directory}`,
        ...(this.#tls ? [...certified, `tls-port ${own}`, 'tls-replication yes'] : []),
        ...(this.#tls ? [`requirepass ${this.password}`, this.userLine] : []),
        ...(this.#tls ? [`sentinel sentinel-pass ${this.password}`] : []),
        `sentinel monitor ${this.#name} ${HOST} ${port} 2`,
        `sentinel auth-pass ${this.#name} ${this.password}`,
        `sentinel down-after-milliseconds ${this.#name} ${DOWN_MS}`,
        `sentinel failover-timeout ${this.#name} 10000`,
      ];
      const sentinel = await this.startProgram(own, lines, ['--sentinel']);
      this.#sentinels.push(own);
      const asked = new Redis({
        ...{ host: HOST, port: own, retryStrategy: () => 50, enableReadyCheck: false },
        ...(this.#tls && { password: this.password, tls: { ca: readFileSync(this.authority) } }),
      });
      asked.on('error', () => undefined);
      sentinels.push({ program: sentinel, asked });
    }
    for (const { program: sentinel, asked } of sentinels) {
      // It knows the replica and the two others.
      await sentinel.until(async () => {
        const told = await asked.call('SENTINEL', 'MASTER', this.#name).catch(() => null);
        const fields = Array.isArray(told)
          ? told.map(String)
          : Object.entries(told ?? {})
              .flat()
              .map(String);
        const field = (name: string) => fields[fields.indexOf(name) + 1];
        return field('num-slaves') === '1' && field('num-other-sentinels') === '2';
      });
      asked.disconnect();
    }
    return this;
  }

  async masterOf(): Promise<FleetServer> {
    for (const server of this.servers) {
      if (server.admin.status === 'ready' && (await isMaster(server.admin))) return server;
    }
    throw new Error('there is no master');
  }
}

/** One server that speaks TLS alone, with a certificate that a private authority has signed. */
export class RedisOverTls extends Servers {
  readonly user = USER;

  /** The address for the service's ACL user. @param known whether it names the authority's certificate */
  url({ known }: { known: boolean }): string {
    const [server] = this.servers;
    const address = `rediss://${this.user}:${this.password}@${HOST}:${server?.port}`;
    return known ? `${address}?ca=${encodeURIComponent(this.authority)}` : address;
  }

  /** @param prefix of the keys and channels that the user may touch */
  async start(prefix: string): Promise<this> {
    const tls = await freePort();
    const plain = await this.startServer([`tls-port ${tls}`, ...this.certified(`IP:${HOST}`)]);
    await plain.admin.acl(
      'SETUSER',
      this.user,
      'reset',
      'on',
      `>${this.password}`,
      `~${prefix}:*`,
      `&${prefix}:*`,
      '+@all',
    );
    this.servers[0] = { ...plain, port: tls };
    return this;
  }
}

/**
 * Cuts a master's replicas off: what the master acknowledges from now on is lost when it dies.
 * @param master as `masterOf` says
 */
export async function keepReplicasOut({ admin }: FleetServer): Promise<void> {
  await admin.acl('SETUSER', REPLICA, 'off');
  await admin.call('CLIENT', 'KILL', 'TYPE', 'replica');
}

async function isMaster(admin: Redis): Promise<boolean> {
  return (await admin.info('replication')).includes('role:master');
}

async function isInStep(admin: Redis): Promise<boolean> {
  return (await admin.info('replication')).includes('master_link_status:up');
}
