/** What the doctor examines: this machine's configuration, its data directory, and the service, if known. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { AgentConfig } from '../../agent/config.ts';
import { readStatus } from '../../agent/status-file.ts';
import { USER } from '../../contract/own-user.ts';
import { configFromEnv } from '../../server/config.ts';
import { type Account, accountOf } from '../../server/store/own-account.ts';
import { AdminClient } from '../admin-client.ts';
import { agentConfigOf } from '../agent-config.ts';
import { agentFile, INSTALLED_FILES, kindOf, platenFile, readConfigFile } from '../config-file.ts';
import { type Enrolment, readEnrolment } from '../enrolment.ts';
import { explain } from '../explain.ts';
import { type MetricsPlace, metricsUrl } from '../metrics.ts';
import { type Places, placesFromEnv, placesOver } from '../places.ts';
import type { FolderEntry } from '../watch/folders-config.ts';
import { type ServiceFile, type ServiceOptions, serviceOf, USUAL_DATA } from '../which-service.ts';
import { type Finding, failed, ok } from './finding.ts';

interface InstalledService {
  account: Account;
  /** What the unit starts; null: nothing of the kind. */
  command: string | null;
}

export interface Subject {
  dataDir: string;
  /** null: none was named, and none is installed. */
  file: string | null;
  /** Its user and its command, where the system runs it, and where root asks. */
  installed: InstalledService | null;
  /** An agent alone, whose service is elsewhere. */
  isAgent: boolean;
  places: Places;
  /** null: its configuration cannot be used. */
  agent: AgentConfig | null;
  /** Those that the configuration has watched. */
  folders: readonly FolderEntry[];
  /** Where `/metrics` is to be; null: nowhere, or not known. */
  metricsUrl: string | null;
  /** null: no service is known. */
  service: ServiceFile | null;
  client: AdminClient | null;
  /** Of an agent at another site: with which service it has enrolled. */
  enrolment?: Enrolment | undefined;
  /** The status that the agent of this machine has written. */
  status: ReturnType<typeof readStatus>;
}

export interface SubjectOptions extends ServiceOptions {
  config?: string;
}

/** Never fails: a configuration that cannot be used becomes a finding. */
export async function subjectOf(options: SubjectOptions): Promise<{ subject: Subject; findings: Finding[] }> {
  const findings: Finding[] = [];
  const fault = (error: unknown, advice: string) => {
    findings.push(failed('configuration', explain(error), advice));
  };
  const file = options.config ?? INSTALLED_FILES.find((path) => existsSync(path)) ?? null;
  const dataDir = options.data ?? USUAL_DATA;
  const isAgent = file !== null && kindOf(file) === 'agent';
  const { written, agent, metrics, folders } = await readFileOf(file, isAgent, dataDir).catch(
    (error: unknown) => {
      fault(error, `Mend ${file}; "platen config check ${file}" says when it is in order.`);
      return { written: null, agent: null, metrics: undefined, folders: [] };
    },
  );
  let told: Places = {};
  try {
    told = placesFromEnv();
    if (!isAgent) configFromEnv(process.env, { host: '127.0.0.1', port: 0 });
  } catch (error) {
    fault(error, 'Mend the environment variables that are named.');
  }
  const places = placesOver(told, written ?? {});
  const enrolment = await readEnrolment(dataDir).catch((error: unknown) => {
    fault(error, 'Ask for another code, and enrol it again: platen agent enroll');
    return undefined;
  });
  if (isAgent && written !== null && places.redisUrl === undefined && enrolment === undefined) {
    fault(
      'it does not say where the jobs come from',
      `Enrol it (platen agent enroll), or set "redisUrl" in ${file}, or REDIS_URL, as the service has it.`,
    );
  }
  if (findings.length === 0) {
    findings.push(
      ok('configuration', file === null ? 'by options and environment alone' : `${file} is in order`),
    );
  }
  const service = await serviceOf(options).catch(() => null);
  const client = service === null ? null : new AdminClient(service);
  return {
    subject: {
      dataDir,
      file,
      installed: installedAs(file, isAgent),
      isAgent,
      places,
      enrolment,
      agent,
      folders,
      metricsUrl:
        service?.metricsUrl ??
        (isAgent && metrics !== undefined ? metricsUrl(metrics.host, metrics.port) : null),
      service,
      client,
      status: readStatus(dataDir),
    },
    findings,
  };
}

/** @throws CommandFailure for a file that cannot be used */
async function readFileOf(
  file: string | null,
  isAgent: boolean,
  dataDir: string,
): Promise<{
  written: Places;
  agent: AgentConfig;
  metrics: MetricsPlace | undefined;
  folders: readonly FolderEntry[];
}> {
  if (file !== null && isAgent) {
    const written = await readConfigFile(file, agentFile);
    const { metrics, folders } = written;
    return { written, agent: await agentConfigOf(file, undefined, { dataDir }), metrics, folders };
  }
  const written = file === null ? undefined : await readConfigFile(file, platenFile);
  const agent = await agentConfigOf(written?.agent, undefined, { dataDir });
  const { metrics, folders = [] } = written ?? {};
  return { written: written ?? {}, agent, metrics, folders };
}

function installedAs(file: string | null, isAgent: boolean): InstalledService | null {
  const unit = unitOf({ file, isAgent });
  const account = unit === null || process.getuid?.() !== 0 ? null : accountOf(USER);
  if (account === null) return null;
  const texts = ['/etc/systemd/system', '/lib/systemd/system']
    .map((directory) => join(directory, `${unit}.service`))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, 'utf8'));
  return { account, command: /^ExecStart=(\S+)/m.exec(texts[0] ?? '')?.[1] ?? null };
}

/** The system's service that runs it; null: it is not installed as one. */
export function unitOf({ file, isAgent }: Pick<Subject, 'file' | 'isAgent'>): string | null {
  if (file === null || !INSTALLED_FILES.includes(resolve(file))) return null;
  return isAgent ? 'platen-agent' : 'platen';
}
