/**
 * Writes the support bundle for a helper: findings, configuration, versions, lists and log, as `.tar.gz`.
 * Secrets are taken out wherever they stand; label data, and texts that may quote it, are left out.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { arch, cpus, freemem, release, totalmem, uptime } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { packTar } from 'modern-tar';
import { z } from 'zod';
import metadata from '../../../package.json' with { type: 'json' };
import { type JobView, jobView } from '../../contract/job.ts';
import { readJson } from '../config-file.ts';
import { CRASHES } from '../crash-report.ts';
import { explain } from '../explain.ts';
import { Secrets, withoutSecrets } from '../redaction.ts';
import { windowsPlaces } from '../windows-service/windows-places.ts';
import type { Finding } from './finding.ts';
import { type Subject, unitOf } from './subject.ts';

const LOG_LINES = 5_000;
const JOBS = 200;
const KEY_FILES = /\.key$|^service\.json$|\.form$/;
const LONGEST_KEY = 10_000;

/** @throws Error when the file cannot be written */
export async function writeBundle(
  file: string,
  subject: Subject,
  findings: readonly Finding[],
): Promise<void> {
  const secrets = await secretsOf(subject);
  const { client, status } = subject;
  const [printers, agents, jobs] = await Promise.all([
    client?.printers().catch(explain),
    client?.agents().catch(explain),
    client
      ?.jobs({ limit: JOBS })
      .then((list) => list.map(jobOutline))
      .catch(explain),
  ]);
  const parts: Record<string, unknown> = {
    'findings.json': findings,
    'system.json': system(),
    'configuration.json':
      subject.file === null ? null : await readJson(subject.file).then(withoutTemplates, explain),
    'agent-status.json': status,
    'printers.json': printers ?? null,
    'agents.json': agents ?? null,
    'jobs.json': jobs ?? null,
    'crashes.json': crashes(subject.dataDir),
    'log.jsonl': await log(subject).catch(explain),
  };
  const mtime = new Date();
  const entries = Object.entries(parts).map(([name, content]) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content, withoutSecrets, 2);
    const body = Buffer.from(`${secrets.takenOut(text)}\n`);
    return { header: { name: `platen-support/${name}`, size: body.length, mode: 0o600, mtime }, body };
  });
  await writeFile(file, gzipSync(await packTar(entries)), { mode: 0o600 });
}

/** A configuration without the names of templates, which watched folders have. */
function withoutTemplates(content: Record<string, unknown>): unknown {
  const leftOut = (name: string, value: unknown) =>
    name === 'template' && typeof value === 'string' ? '[left out]' : value;
  return JSON.parse(JSON.stringify(content, leftOut));
}

/** Every secret of this machine, so that it can be taken out wherever it turns up. */
async function secretsOf({ dataDir, file, service }: Subject): Promise<Secrets> {
  const secrets = new Secrets();
  secrets.addFrom(process.env);
  secrets.add(service?.adminToken);
  if (file !== null) secrets.addFrom(await readJson(file).catch(() => null));
  for (const name of namesIn(dataDir)) {
    if (!KEY_FILES.test(name)) continue;
    const text = readFileSync(join(dataDir, name), 'utf8').slice(0, LONGEST_KEY);
    secrets.add(text.trim());
    for (const word of text.split(/[\s"&=,:{}]+/)) if (word.length >= 20) secrets.add(word);
  }
  return secrets;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** The crash reports; they hold no messages, which might quote label data. */
function crashes(dataDir: string): unknown[] {
  const directory = join(dataDir, CRASHES);
  return namesIn(directory).map((name): unknown => {
    try {
      return JSON.parse(readFileSync(join(directory, name), 'utf8'));
    } catch (error) {
      return { file: name, unreadable: explain(error) };
    }
  });
}

function system(): object {
  const [{ model = 'unknown' } = {}] = cpus();
  const set = Object.keys(process.env).filter((name) =>
    /^(PLATEN|AUTH)_|^(DATABASE|REDIS)_URL$|PROXY|^LOG_LEVEL$/i.test(name),
  );
  return {
    at: new Date().toISOString(),
    platen: metadata.version,
    node: process.versions.node,
    program: process.execPath,
    system: `${process.platform} ${release()} ${arch()}`,
    distribution: distribution(),
    processors: `${cpus().length} × ${model}`,
    memory: { total: totalmem(), free: freemem() },
    upSeconds: Math.round(uptime()),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    // Their names alone: values may be secret.
    variables: set.sort(),
  };
}

function distribution(): string {
  try {
    return /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? '';
  } catch {
    return '';
  }
}

/** A job without the text of its error and the name of its template, which may quote values of labels. */
function jobOutline(listed: JobView): object {
  // What a list shows of a job's labels is not in the schema, and stays out.
  const { template, error, ...job } = jobView.parse(listed);
  return { ...job, template: template.id, error: error?.code ?? null };
}

const entry = z.looseObject({ msg: z.string().catch(''), err: z.unknown().optional() });
const errorEntry = z.object({
  type: z.string().optional(),
  code: z.unknown().optional(),
  stack: z.string().optional(),
});
/** Members of a log line that never quote label data. */
const KEPT = [
  'level time pid msg agent agentId name version dataDir folder server reason redis prefix printer printerId lane job jobId queue',
  'delivery round status code kind retryMs loops signal url method route path statusCode ms provider uri',
].flatMap((names) => names.split(' '));

/** The log of the service, reduced to what is known to hold no label data. */
async function log(subject: Subject): Promise<string> {
  const unit = unitOf(subject);
  if (unit === null) return 'kept by whoever started it';
  if (process.platform === 'win32') {
    // This file is rotated at 10 MB.
    const text = readFileSync(join(windowsPlaces().logs, 'agent.log'), 'utf8');
    return text.split('\n').slice(-LOG_LINES).map(logLine).join('\n');
  }
  const { stdout } = await promisify(execFile)(
    'journalctl',
    ['-u', unit, '-n', String(LOG_LINES), '-o', 'cat', '--no-pager'],
    { maxBuffer: 64 * 1024 ** 2, timeout: 30_000 },
  );
  return stdout.split('\n').map(logLine).join('\n');
}

/** Plain lines of systemd and of Platen stay whole; of lines in JSON only the members in `KEPT` stay. */
export function logLine(line: string): string {
  if (!line.startsWith('{'))
    return /^(platen|agent|Started|Starting|Stopp|systemd)/.test(line) ? line : '[left out]';
  try {
    const { err, ...told } = entry.parse(JSON.parse(line));
    const kept = Object.entries(told).filter(([name]) => KEPT.includes(name));
    const { type, code, stack } = errorEntry.catch({}).parse(err ?? {});
    // A stack begins with the message, which may quote label data.
    const frames = stack?.split('\n').filter((frame) => /^\s+at /.test(frame));
    return JSON.stringify({
      ...Object.fromEntries(kept),
      ...(err !== undefined && { err: { type, code, frames } }),
    });
  } catch {
    return '[left out]';
  }
}
