/** Checks of this machine's network settings: its clock, the host names in its configuration, its proxy. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { lookAtPostgres, lookAtRedis } from '../../queue/index.ts';
import { explain } from '../explain.ts';
import { type Finding, failed, ok, warning } from './finding.ts';
import type { Subject } from './subject.ts';
import { SYSTEM } from './system-words.ts';

export const LIMIT_MS = 3_000;
/** A `Date` header has whole seconds. */
const CLOCK = { ok: 2_000, wrong: 60_000 };
const NAMES_MS = 3_000;

/** Labels come out even if clocks differ; times in lists and tokens of another server need equal clocks. */
export async function clock(subject: Subject): Promise<Finding[]> {
  const { service, places } = subject;
  const { redisUrl, databaseUrl, queuePrefix = 'platen' } = places;
  const answers: [string, () => Promise<Date | null>][] = [];
  if (service !== null) answers.push(['the service', () => dateOf(service.url)]);
  if (databaseUrl !== undefined) {
    answers.push(['PostgreSQL', async () => (await lookAtPostgres(databaseUrl, LIMIT_MS)).now]);
  }
  if (redisUrl !== undefined) {
    answers.push(['Redis', async () => (await lookAtRedis(redisUrl, queuePrefix, LIMIT_MS)).now]);
  }
  const found: Finding[] = [];
  for (const [whose, ask] of answers) {
    const before = Date.now();
    // An unreachable service is another check's finding.
    const theirs = (await ask().catch(() => null))?.getTime() ?? Number.NaN;
    if (Number.isNaN(theirs)) continue;
    const off = theirs - (before + Date.now()) / 2;
    const words = `this machine's clock is ${(Math.abs(off) / 1_000).toFixed(1)} s ${off > 0 ? 'behind' : 'before'} that of ${whose}`;
    const advice = 'Have the machines set their clocks by the network: timedatectl set-ntp true';
    if (Math.abs(off) > CLOCK.wrong) found.push(failed('clock', words, advice));
    else if (Math.abs(off) > CLOCK.ok) found.push(warning('clock', words, advice));
    else found.push(ok('clock', `agrees with that of ${whose}`));
  }
  return found;
}

async function dateOf(url: string): Promise<Date | null> {
  const response = await fetch(new URL('/healthz', url), { signal: AbortSignal.timeout(LIMIT_MS) });
  await response.body?.cancel();
  const date = response.headers.get('date');
  return date === null ? null : new Date(date);
}

/** Each host name of the configuration, and whether this machine resolves it. */
export async function names({ service, places, enrolment, agent }: Subject): Promise<Finding[]> {
  const addresses = [
    service?.url,
    enrolment?.origin,
    places.databaseUrl,
    places.redisUrl,
    ...(agent?.printers.map(({ uri }) => uri) ?? []),
  ];
  const hosts = addresses.flatMap((address) => {
    const host = URL.parse(address ?? '')?.hostname.replace(/^\[|\]$/g, '') ?? '';
    // In a USB address the host is the vendor's number.
    return host === '' || isIP(host) !== 0 || address?.startsWith('usb:') ? [] : [host];
  });
  return await Promise.all([...new Set(hosts)].map(resolved));
}

async function resolved(host: string): Promise<Finding> {
  const check = `name ${host}`;
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`no answer within ${NAMES_MS} ms`)), NAMES_MS).unref();
  });
  try {
    const found = await Promise.race([lookup(host, { all: true }), late]);
    return ok(check, found.map(({ address }) => address).join(', '));
  } catch (error) {
    const advice = `Look whether the name is spelt right, and which name server this machine asks (${SYSTEM.resolver}).`;
    return failed(check, explain(error), advice);
  }
}

/** Node uses a proxy only if it is told to; queues, database and printers are never reached through one. */
export async function proxy({ service }: Subject): Promise<Finding[]> {
  const check = 'proxy';
  const set = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].filter((name) => process.env[name]);
  if (set.length === 0) return [];
  const url = URL.parse(service?.url ?? '');
  const exceptions = (process.env['NO_PROXY'] ?? process.env['no_proxy'] ?? '')
    .split(',')
    .map((name) => name.trim());
  if (!process.env['NODE_USE_ENV_PROXY']) {
    return [ok(check, `${set.join(', ')} set, and not used: the service is asked directly`)];
  }
  if (url === null || exceptions.includes(url.hostname) || exceptions.includes('*')) {
    return [ok(check, `${set.join(', ')} used, but not for this service`)];
  }
  const detail = `${set.join(', ')} and NODE_USE_ENV_PROXY are set: ${url.host} is asked through the proxy`;
  return [warning(check, detail, `Where it can be reached directly, add ${url.hostname} to NO_PROXY.`)];
}
