/**
 * The configuration files: `agent.json` of an agent alone, `platen.json` of service and agent. One schema each, which
 * `platen config schema` publishes. Environment variables win over a file, and flags over both.
 */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import { agentConfig } from '../agent/config.ts';
import { serverSettings } from '../server/config.ts';
import { nearest } from '../words/nearest.ts';
import { explain } from './explain.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { inWords } from './in-words.ts';
import { metricsPlace } from './metrics.ts';
import { DATABASE_ADDRESS, DATABASE_EXPECTED, DATABASE_NO_URL, isDatabaseUrl } from './places.ts';
import { agentFolders, serviceFolders } from './watch/folders-config.ts';
import { windowsPlaces } from './windows-service/windows-places.ts';

const places = {
  $schema: z.string().optional().describe('for editors; not looked at'),
  redisUrl: z
    .string()
    .regex(/^rediss?:\/\//, { error: 'expected a redis:// or rediss:// address' })
    .optional()
    .describe(
      'where the queues are; in PostgreSQL without it. After "?": ca=FILE, sentinel=NAME or cluster=yes, also=host:port,…',
    ),
  queuePrefix: z.string().min(1).max(100).optional().describe('keeps deployments that share a Redis apart'),
  metrics: metricsPlace.optional().describe('/metrics for Prometheus, on a port of its own'),
};

const agent = agentConfig.omit({ dataDir: true });

export const agentFile = agent.extend({ ...places, folders: agentFolders });

export const platenFile = z.strictObject({
  ...places,
  host: z.string().min(1).optional().describe('address to listen on; 127.0.0.1 without it'),
  port: z.int().min(0).max(65_535).optional().describe('8310 without it; 0 picks one'),
  databaseUrl: z
    .string()
    .regex(DATABASE_ADDRESS, { error: DATABASE_EXPECTED, abort: true })
    .refine(isDatabaseUrl, { error: DATABASE_NO_URL })
    .optional()
    .describe('PostgreSQL of your own; one is brought along'),
  service: serverSettings.omit({ host: true, port: true }).prefault({}),
  agent: agent.prefault({}),
  folders: serviceFolders,
});

export const CONFIG_FILES = { agent: agentFile, platen: platenFile } as const;
export type ConfigKind = keyof typeof CONFIG_FILES;

/** Where the packages install the configuration files. */
export const INSTALLED_FILES: readonly string[] =
  process.platform === 'win32'
    ? [windowsPlaces().config]
    : ['/etc/platen/platen.json', '/etc/platen/agent.json'];

/** The kind of a file, by the names that the packages give to configuration files. */
export function kindOf(file: string): ConfigKind {
  return /agent/i.test(basename(file)) ? 'agent' : 'platen';
}

/** @throws CommandFailure for a file that cannot be read, is no JSON, or has what the schema does not allow */
export async function readConfigFile<S extends z.ZodObject>(file: string, schema: S): Promise<z.output<S>> {
  const content = await readJson(file);
  const parsed = schema.safeParse(content);
  if (!parsed.success) {
    throw new CommandFailure(`${file}:\n${faultsOf(parsed.error, schema, content)}`, EXIT.usage);
  }
  return parsed.data;
}

const anyObject = z.looseObject({});

/** A file's content, unchecked. @throws CommandFailure for a file that cannot be read, or holds no object */
export async function readJson(file: string): Promise<Record<string, unknown>> {
  let content: unknown;
  try {
    content = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new CommandFailure(`Cannot read ${file}: ${explain(error)}`, EXIT.usage);
  }
  const parsed = anyObject.safeParse(content);
  if (parsed.success) return parsed.data;
  throw new CommandFailure(`${file}:\n${faultsOf(parsed.error, anyObject, content)}`, EXIT.usage);
}

/** The faults of `content` as text for people; for an unknown key, with the key that was probably meant. */
export function faultsOf(error: z.ZodError, schema: z.ZodType, content: unknown): string {
  const issues = error.issues.flatMap((issue): z.core.$ZodIssue[] => {
    if (issue.code !== 'unrecognized_keys') return inWords(issue, content);
    const known = keysAt(jsonSchemaOf(schema), issue.path);
    return issue.keys.map((key) => {
      const meant = nearest(key, known);
      const message = `unknown key "${key}"${meant === undefined ? '' : `; did you mean "${meant}"?`}`;
      return { ...issue, keys: [key], message };
    });
  });
  return z.prettifyError({ issues });
}

const jsonSchema = z.looseObject({
  properties: z.record(z.string(), z.unknown()).exactOptional(),
  items: z.unknown().exactOptional(),
});

/** The JSON Schema of what may stand in a file, without the defaults that depend on this machine. */
export function jsonSchemaOf(schema: z.ZodType): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    // Defaults that depend on the machine: its name, and one less than its number of cores.
    override: ({ jsonSchema: made, path }) => {
      const name = path.at(-1);
      if (name === 'name' || name === 'renderThreads') delete made.default;
    },
  });
}

function keysAt(schema: unknown, [step, ...rest]: readonly PropertyKey[]): string[] {
  const { properties = {}, items } = jsonSchema.catch({}).parse(schema);
  if (step === undefined) return Object.keys(properties);
  return keysAt(typeof step === 'number' ? items : properties[String(step)], rest);
}
