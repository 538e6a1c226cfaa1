/** Checks the service and the lanes between it and its agents, from here and as the service sees them. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { z } from 'zod';
import metadata from '../../../package.json' with { type: 'json' };
import { GATEWAY_PATH } from '../../contract/gateway.ts';
import { type ReceiversHealth, readiness, type ServiceHealth } from '../../contract/readiness.ts';
import { lookAtPostgres, lookAtRedis, QueueError } from '../../queue/index.ts';
import { serverAt } from '../awaiting.ts';
import { explain } from '../explain.ts';
import { remedyOf } from './enrolled.ts';
import { type Finding, failed, ok, warning } from './finding.ts';
import { LIMIT_MS } from './network.ts';
import { type Subject, unitOf } from './subject.ts';
import { SYSTEM } from './system-words.ts';

const run = promisify(execFile);

/** The state of the system's service, where Platen is installed as one. */
export async function unit(subject: Subject): Promise<Finding[]> {
  const name = unitOf(subject);
  if (name === null) return [];
  if (process.platform === 'win32') return await windowsService(name);
  if (!existsSync('/run/systemd/system')) return [];
  const { stdout } = await run('systemctl', ['show', name, '-p', 'ActiveState,SubState,NRestarts,Result'], {
    timeout: LIMIT_MS,
  });
  const told = Object.fromEntries(stdout.split('\n').map((line) => line.split('=', 2)));
  const {
    ActiveState: state = 'unknown',
    SubState: sub = '',
    NRestarts: restarts = '0',
    Result: result,
  } = told;
  const journal = `${SYSTEM.log(name)} says why.`;
  if (state === 'active') {
    return restarts === '0'
      ? [ok(name, 'runs')]
      : [warning(name, `runs, and systemd had to start it again ${restarts} times`, journal)];
  }
  const waits = state === 'activating' && sub === 'start';
  if (waits) return [failed(name, 'starts, and waits for what it needs', journal)];
  return [failed(name, `does not run: ${state}, ${result}`, `${SYSTEM.start(name)}; ${journal}`)];
}

async function windowsService(name: string): Promise<Finding[]> {
  const { serviceStatus } = await import('../windows-service/service-registry.ts');
  const status = await serviceStatus(name);
  if (status === null) return [failed(name, 'is not a service of this machine', 'platen service install')];
  const { state, exitCode } = status;
  if (state === 'running') return [ok(name, 'runs')];
  const ended = exitCode === 0 ? '' : `, ended with ${exitCode}`;
  const advice = `${SYSTEM.start(name)}; ${SYSTEM.log(name)} says why.`;
  return [failed(name, `does not run: ${state}${ended}`, advice)];
}

const problem = z.object({ detail: z.string() });

/** Whether the service answers, and whether it reaches its database and lanes. */
export async function service({ service, client, isAgent, dataDir }: Subject): Promise<Finding[]> {
  if (service === null || client === null) {
    if (isAgent) return [];
    const advice = `Start it (${SYSTEM.start('platen')}, or platen up), or name it with --data or --url.`;
    return [warning('service', `none has run on ${dataDir} yet`, advice)];
  }
  try {
    const { length } = await client.tenants();
    const found = [
      ok('service', `answers at ${service.url}, with ${length} ${length === 1 ? 'tenant' : 'tenants'}`),
    ];
    const ready = await fetch(new URL('/readyz', service.url), { signal: AbortSignal.timeout(2 * LIMIT_MS) });
    const said: unknown = await ready.json();
    if (ready.ok) {
      found.push(ok('service', 'has its database and its lanes'));
      found.push(...besides(readiness.catch({}).parse(said)));
    } else {
      const { detail } = problem.catch({ detail: `status ${ready.status}` }).parse(said);
      found.push(
        failed(
          'service',
          `cannot work: ${detail}`,
          'Start the server that it names, and look at its address and its password.',
        ),
      );
    }
    return found;
  } catch (error) {
    const advice = `Start it (${SYSTEM.start('platen')}, or platen up --data ${dataDir}), and look at its log.`;
    return [failed('service', explain(error), advice)];
  }
}

/** What is set up beside jobs and printers. No label waits for any of it, so nothing of it is a failure. */
function besides({ webhooks, alerts, mail, traces, gateway, certificate }: ServiceHealth): Finding[] {
  return [
    ...ofReceivers('webhooks', 'platen webhook', webhooks),
    ...ofReceivers('alerts', 'platen alert', alerts),
    ...ofServer('mail', mail, 'PLATEN_SMTP_URL and PLATEN_MAIL_FROM, and whether the mail server runs'),
    ...ofServer('traces', traces, 'OTEL_EXPORTER_OTLP_ENDPOINT, and whether the collector runs'),
    ...(gateway === undefined ? [] : [ofGateway(gateway)]),
    ...(certificate === undefined ? [] : [ofCertificate(certificate)]),
  ];
}

function ofServer(check: string, health: ServiceHealth['mail'], look: string): Finding[] {
  if (health === undefined) return [];
  const { failed: why } = health;
  return [
    why === null ? ok(check, 'nothing has failed') : warning(check, `fails: ${why}`, `Look at ${look}.`),
  ];
}

function ofGateway({ agents, connected }: NonNullable<ServiceHealth['gateway']>): Finding {
  const words = `${connected} of ${agents} ${agents === 1 ? 'agent' : 'agents'} at other sites connected`;
  if (connected > 0) return ok('gateway', words);
  const advice = `Look whether the proxy before the service passes WebSockets on at ${GATEWAY_PATH}, and whether the agents run.`;
  return warning('gateway', words, advice);
}

function ofCertificate({ host, endsAt, isSoon }: NonNullable<ServiceHealth['certificate']>): Finding {
  const words = `that of ${host} is good until ${endsAt}`;
  if (!isSoon) return ok('certificate', words);
  return warning('certificate', words, 'Renew it at the proxy, and look why it does not renew itself.');
}

/** min that an event may wait: after the second attempt there are five more until the third. */
const LATE = 10;

/** Nothing waits for a receiver, so this is never a failure. */
function ofReceivers(what: string, command: string, health: ReceiversHealth | undefined): Finding[] {
  if (health === undefined) return [];
  const { disabled, oldestUndelivered: since } = health;
  const found: Finding[] = [];
  if (disabled > 0) {
    found.push(
      warning(
        what,
        disabled === 1
          ? 'one is disabled, and is told nothing'
          : `${disabled} are disabled, and are told nothing`,
        `${command} list --tenant TENANT says which and why; ${command} replay ID enables it and sends what is missing.`,
      ),
    );
  }
  if (since !== null && Date.now() - Date.parse(since) > LATE * 60_000) {
    found.push(
      warning(
        what,
        `an event of ${since} has not arrived yet`,
        `${command} list --tenant TENANT says which receiver fails; ${command} deliveries ID says what it answers.`,
      ),
    );
  }
  return found.length > 0 ? found : [ok(what, 'arrive')];
}

/** Whether `/metrics` answers where it is to be. */
export async function metrics({ metricsUrl: url }: Subject): Promise<Finding[]> {
  if (url === null) return [];
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2 * LIMIT_MS) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    if (/^platen_database_up 0$/m.test(text))
      return [
        warning('metrics', `are told at ${url}, without what the database knows`, 'See "service" above.'),
      ];
    return [ok('metrics', `are told at ${url}`)];
  } catch (error) {
    const advice =
      'Start what tells them again, and look at its log; "metrics" in its configuration says where they are.';
    return [failed('metrics', `${url}: ${explain(error)}`, advice)];
  }
}

/** A server that refuses us runs: it is the configuration that has to change. */
function remedy(error: unknown, server: string, setting: string): string {
  if (error instanceof QueueError && error.code === 'refused')
    return `Set user, password and name in ${setting} as ${server} has them.`;
  return `Start ${server}, or set ${setting} to where it is.`;
}

/** Whether this machine reaches the servers of lanes and database. */
export async function lanes({ places, isAgent }: Subject): Promise<Finding[]> {
  const found: Finding[] = [];
  const { redisUrl, databaseUrl, queuePrefix = 'platen' } = places;
  if (databaseUrl !== undefined && !isAgent) {
    try {
      found.push(ok('database', `${(await lookAtPostgres(databaseUrl, LIMIT_MS)).server} answers`));
    } catch (error) {
      const advice = remedy(error, serverAt('PostgreSQL', databaseUrl), 'databaseUrl (DATABASE_URL)');
      found.push(failed('database', explain(error), advice));
    }
  }
  if (redisUrl === undefined) return found;
  try {
    const { server, services } = await lookAtRedis(redisUrl, queuePrefix, LIMIT_MS);
    const answers = `${server} answers at ${serverAt('Redis', redisUrl).replace('Redis at ', '')}`;
    if (services === 0) {
      found.push(
        failed(
          'lanes',
          `${answers}, and no service is there with the prefix "${queuePrefix}"`,
          'Start the service, and set redisUrl (REDIS_URL) and queuePrefix (PLATEN_QUEUE_PREFIX) the same for it and its agents.',
        ),
      );
    } else {
      const who =
        services === null
          ? ''
          : `; ${services === 1 ? 'a service takes' : `${services} services take`} the reports`;
      found.push(ok('lanes', `${answers}, prefix "${queuePrefix}"${who}`));
    }
  } catch (error) {
    const advice = remedy(error, serverAt('Redis', redisUrl), 'redisUrl (REDIS_URL)');
    found.push(failed('lanes', explain(error), `${advice} Agents print what they have, and nothing new.`));
  }
  return found;
}

function wentBack(check: string, from: string, version: string): Finding {
  return warning(
    check,
    `its update to ${from} did not come up: it runs ${version} again`,
    'The log of its machine says why; "platen update" tries another version, and with --again the same.',
  );
}

/** The agent of this machine as its status file has it, and all agents as the service lists them. */
export async function agents({ isAgent, status, client, places, dataDir }: Subject): Promise<Finding[]> {
  const found: Finding[] = [];
  if (status !== null && isAgent) {
    const { report, told } = status;
    const words = `${report.name} (${report.agentId}), version ${report.version}`;
    if (status.isOld) {
      const detail = `${words}, runs, and could not write down how it is since ${report.at}`;
      found.push(failed('agent', detail, 'See "disk" above; its log may say more.'));
    } else if (told.error === null && told.at !== null) {
      found.push(ok('agent', `${words}, runs and reports`));
      if (report.wentBack !== undefined)
        found.push(wentBack('agent', report.wentBack.version, report.version));
    } else {
      const why = told.error ?? 'no report has gone out yet';
      found.push(failed('agent', `${words}, runs, and cannot report: ${why}`, remedyOf(why)));
    }
  } else if (isAgent) {
    found.push(
      failed(
        'agent',
        `none runs on ${dataDir}`,
        `${SYSTEM.start('platen-agent')}, or platen agent --config …`,
      ),
    );
  }
  const listed = (await client?.agents().catch(() => null)) ?? null;
  if (listed === null) return found;
  if (listed.length === 0) {
    const where =
      places.redisUrl === undefined
        ? 'The agent of "platen up" reports within seconds: look at its log.'
        : 'Give it the redisUrl and queuePrefix of this service.';
    found.push(failed('agents', 'none has ever reported', where));
  }
  for (const { name, online, seenAt, version, wentBackFrom } of listed.filter(
    ({ enrolled }) => !enrolled?.revokedAt,
  )) {
    const check = `agent ${name}`;
    if (!online || version === null) {
      const advice = 'Start it, and look at its log. One that is gone for good needs no mending.';
      const heard = seenAt === null ? 'has enrolled, and never reported' : `last heard of at ${seenAt}`;
      found.push(warning(check, heard, advice));
    } else if (wentBackFrom !== null) {
      found.push(wentBack(check, wentBackFrom, version));
    } else if (version !== metadata.version) {
      found.push(
        warning(check, `has version ${version}, this is ${metadata.version}`, 'Update the older one.'),
      );
    } else found.push(ok(check, 'reports'));
  }
  return found;
}
