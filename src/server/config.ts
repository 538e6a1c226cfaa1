/**
 * The service's configuration: one zod schema, filled from code (`platen up`) or from environment variables.
 * A wrong variable is an error that names it, its value (never a secret's) and what was expected.
 */
import { z } from 'zod';
import { HOST, PORT } from '../contract/address.ts';
import { LIMITS } from '../contract/limits.ts';
import { role } from '../contract/people.ts';
import { tenantId } from '../contract/tenant-id.ts';
import { withoutCredentials } from '../words/without-credentials.ts';
import { proxiesFromText, trustedProxies } from './proxies.ts';
import { headersOf } from './traces/headers.ts';
import { isNetwork } from './webhooks/where-allowed.ts';

const url = z.url({ protocol: /^https?$/, error: 'expected an http or https URL' });

function withoutSlashes(text: string): string {
  return text.endsWith('/') ? withoutSlashes(text.slice(0, -1)) : text;
}

/** Whether nobody on the way can read or change what this URL returns: https, or this machine itself. */
function isSecret(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

/** An OpenID provider (OpenID Connect Core 1.0), by authorization code with PKCE. */
const singleSignOn = z.strictObject({
  /** The provider's issuer identifier; its metadata is read from below this address. */
  issuer: url.refine(isSecret, {
    error: 'expected an https URL: whoever can change what comes over http can sign in as anybody',
  }),
  clientId: z.string().min(1).max(500),
  /** A public client has none. */
  clientSecret: z.string().min(1).max(2_000).optional(),
  /** The tenant of the people who sign in with the provider. */
  tenant: tenantId.default('default'),
  /** The label of the sign-in button. */
  name: z.string().trim().min(1).max(60).default('SSO'),
  scope: z
    .string()
    .regex(/^openid(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/, { error: 'expected "openid" and scopes behind it' })
    .max(500)
    .default('openid email profile'),
  /** The claim that is the login. `email` counts only where the provider says that it is verified. */
  loginClaim: z.string().min(1).max(200).default('email'),
  /**
   * With `roles`: the claim that lists groups. A member of a group in `roles` needs no invitation; everybody
   * else is kept out.
   */
  roleClaim: z.string().min(1).max(200).default('groups'),
  roles: z.record(z.string().min(1).max(300), role).optional(),
});
export type SingleSignOn = z.output<typeof singleSignOn>;

export const serverSettings = z.strictObject({
  host: z.string().min(1).default(HOST),
  /** 0: any free port. */
  port: z.int().min(0).max(65_535).default(PORT),
  /** Where callers reach the service: the issuer of its tokens and the base of the URLs it hands out. */
  publicUrl: url.transform(withoutSlashes).optional(),
  audience: z.string().min(1).max(500).default('platen'),
  /** s. */
  tokenLifetime: z.int().min(30).max(86_400).default(600),
  /** Bearer credential of the internal interface under `/app`; without one that interface answers 401. */
  adminToken: z
    .string()
    .regex(/^[\x21-\x7e]{24,500}$/, { error: 'expected 24 to 500 visible ASCII characters' })
    .optional(),
  /** Encrypts secrets in the database. Without it, a random key is used that ends with the process. */
  secretKey: z
    .string()
    .regex(/^[\x21-\x7e]{32,500}$/, { error: 'expected 32 to 500 visible ASCII characters' })
    .optional(),
  /** Accept the tokens of an external authorization server instead of issuing our own. */
  externalAuth: z
    .strictObject({
      issuer: z.string().min(1),
      jwksUrl: url.refine(isSecret, {
        error: 'expected an https URL: whoever can change what comes over http can sign tokens',
      }),
      /** The `typ` of its access tokens: RFC 9068's, or `JWT` for a server that does not follow that RFC. */
      tokenType: z.enum(['at+jwt', 'JWT']).default('at+jwt'),
      /** The claim that holds the tenant ID, or a list of them. */
      tenantClaim: z.string().min(1).default('tenant'),
    })
    .optional(),
  /** People of one tenant sign in at an OpenID provider. */
  singleSignOn: singleSignOn.optional(),
  /** Which proxies' X-Forwarded-For is believed: the number of proxies, or their addresses. */
  trustProxy: trustedProxies.default(0),
  /** s at a stop in which `/readyz` says so and requests are served: until load balancers have seen it. The process ends in 60 s. */
  drainSeconds: z.int().min(0).max(20).default(0),
  /** Serve what a deployment may expose beside the interface's own routes: `extra-routes.ts`. */
  extraRoutes: z.boolean().default(true),
  /** Serve Labelary's interface under `/labelary`: `labelary/routes.ts`. */
  labelary: z
    .strictObject({
      on: z.boolean().default(false),
      /** What callers send as `X-API-Key`; without one, whoever reaches the service may call. */
      key: z
        .string()
        .regex(/^[\x21-\x7e]{24,500}$/, { error: 'expected 24 to 500 visible ASCII characters' })
        .optional(),
    })
    .prefault({}),
  /** Serve PrintNode's interface under `/printnode`: `printnode/routes.ts`. */
  printNode: z.boolean().default(false),
  /** Printers can be offered by IPP under `/ipp`: `ipp/routes.ts`. */
  ipp: z.boolean().default(false),
  /** Tell the network of those that are offered (DNS-SD): `ipp/announcer.ts`. */
  ippAnnounce: z.boolean().default(false),
  limits: z
    .strictObject({
      bodyBytes: z
        .int()
        .min(1024)
        .max(256 * 1024 * 1024)
        .default(LIMITS.bodyBytes),
      records: z.int().min(1).max(1_000_000).default(LIMITS.records),
      labels: z.int().min(1).max(10_000_000).default(LIMITS.labels),
      /** HTTP connections; for one more, an idle one is closed (`connections.ts`). */
      connections: z.int().min(10).max(100_000).default(1_000),
      /** Agents at other sites that are connected, at each instance. */
      agents: z.int().min(1).max(100_000).default(2_000),
      /** Requests of one tenant to `/v2`, at each instance. */
      requestsPerSecond: z.int().min(1).max(1_000_000).default(1_000),
      /** Of one tenant: jobs that are not over, those of them at one printer, and bytes of their data. */
      waitingJobs: z.int().min(1).max(100_000_000).default(100_000),
      waitingJobsPerPrinter: z.int().min(1).max(100_000_000).default(50_000),
      waitingBytes: z
        .int()
        .min(1024 * 1024)
        .max(1024 ** 5)
        .default(2 * 1024 ** 3),
      /** Of one tenant: templates, and bytes of them with their versions, as they are stored. */
      templates: z.int().min(1).max(1_000_000).default(2_000),
      templateBytes: z
        .int()
        .min(1024 * 1024)
        .max(1024 ** 5)
        .default(1024 ** 3),
    })
    .prefault({}),
  /** Private networks that webhooks may reach, as CIDR: `10.2.0.0/16`. All others must be public. */
  webhookAllow: z
    .array(z.string().refine(isNetwork, { error: 'expected networks as 10.2.0.0/16, separated by commas' }))
    .default([]),
  /** By which server alerts are mailed, and in whose name. */
  mail: z
    .strictObject({
      smtpUrl: z.url({ protocol: /^smtps?$/, error: 'expected smtp://… or smtps://…' }),
      from: z.email({ error: 'expected a mail address' }),
    })
    .optional(),
  /** Where traces are told, by OTLP over HTTP; the variables are OpenTelemetry's. Without an endpoint none are. */
  traces: z
    .strictObject({
      /** Below it is `/v1/traces`. */
      endpoint: url.transform(withoutSlashes).optional(),
      headers: z
        .string()
        .refine((text) => headersOf(text) !== undefined, 'expected name=value, separated by commas')
        .optional(),
      service: z.string().min(1).max(200).default('platen'),
    })
    .prefault({}),
  /** How many failures within `window` s are allowed; token requests and sign-ins are counted separately. */
  tokenFailures: z
    .strictObject({
      /** One client from one address. */
      perClientAndAddress: z.int().min(1).default(10),
      perAddress: z.int().min(1).default(50),
      /** One client from all addresses; high, so that a stranger cannot easily lock a client out. */
      perClient: z.int().min(1).default(200),
      window: z.int().min(1).default(300),
    })
    .prefault({}),
  /** Streams of events that open pages of the console hold, at each instance. */
  events: z
    .strictObject({
      perTenant: z.int().min(1).default(250),
      perPerson: z.int().min(1).default(16),
      /** s between two heartbeats; as often, and at least every 5 s, a stream's session is checked. */
      heartbeat: z.int().min(1).max(50).default(20),
    })
    .prefault({}),
  /** Connections to the database. */
  poolSize: z.int().min(4).max(500).default(16),
  /** How long jobs that have ended are kept; a job that is under way or held is always kept. */
  retention: z
    .strictObject({
      /** h after a job's end for which its records are kept, for pictures and reprints. */
      labelDataHours: z.int().min(0).max(87_600).default(72),
      /** Days after a job's end for which its row is kept: what was printed where and when, without the records. */
      jobDays: z.int().min(2).max(36_500).default(400),
    })
    .prefault({}),
  /** ms between two sweeps. */
  sweepInterval: z.int().min(50).max(600_000).default(3_000),
});
export const serverConfig = serverSettings
  .refine((config) => !config.printNode || config.externalAuth === undefined, {
    path: ['printNode'],
    error: 'expected no external authorization server: it has no keys that PrintNode’s clients could send',
  })
  .refine((config) => !config.ipp || config.externalAuth === undefined, {
    path: ['ipp'],
    error: 'expected no external authorization server: it has no keys that a printer’s clients could send',
  })
  .refine((config) => !config.ippAnnounce || config.ipp, {
    path: ['ippAnnounce'],
    error: 'expected PLATEN_IPP=true: without it there is nothing to announce',
  });
export type ServerConfig = z.output<typeof serverConfig>;
export type ServerConfigInput = z.input<typeof serverConfig>;

/** Thrown for a configuration that cannot be used; the message is for the person who wrote it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

type Variable = {
  path: readonly [outer: string, inner?: string];
  kind: 'text' | 'integer' | 'switch' | 'proxies' | 'pairs' | 'list';
  secret?: true;
};

/** Environment variables, and what each sets. */
const VARIABLES: Readonly<Record<string, Variable>> = {
  PLATEN_HOST: { path: ['host'], kind: 'text' },
  PLATEN_PORT: { path: ['port'], kind: 'integer' },
  PLATEN_PUBLIC_URL: { path: ['publicUrl'], kind: 'text' },
  PLATEN_AUDIENCE: { path: ['audience'], kind: 'text' },
  PLATEN_TOKEN_LIFETIME: { path: ['tokenLifetime'], kind: 'integer' },
  PLATEN_ADMIN_TOKEN: { path: ['adminToken'], kind: 'text', secret: true },
  PLATEN_KEY: { path: ['secretKey'], kind: 'text', secret: true },
  PLATEN_TRUST_PROXY: { path: ['trustProxy'], kind: 'proxies' },
  PLATEN_DRAIN_SECONDS: { path: ['drainSeconds'], kind: 'integer' },
  PLATEN_EXTRA_ROUTES: { path: ['extraRoutes'], kind: 'switch' },
  PLATEN_LABELARY: { path: ['labelary', 'on'], kind: 'switch' },
  PLATEN_LABELARY_KEY: { path: ['labelary', 'key'], kind: 'text', secret: true },
  PLATEN_PRINTNODE: { path: ['printNode'], kind: 'switch' },
  PLATEN_IPP: { path: ['ipp'], kind: 'switch' },
  PLATEN_IPP_ANNOUNCE: { path: ['ippAnnounce'], kind: 'switch' },
  PLATEN_WEBHOOK_ALLOW: { path: ['webhookAllow'], kind: 'list' },
  PLATEN_SMTP_URL: { path: ['mail', 'smtpUrl'], kind: 'text', secret: true },
  PLATEN_MAIL_FROM: { path: ['mail', 'from'], kind: 'text' },
  PLATEN_MAX_BODY_BYTES: { path: ['limits', 'bodyBytes'], kind: 'integer' },
  PLATEN_MAX_RECORDS: { path: ['limits', 'records'], kind: 'integer' },
  PLATEN_MAX_LABELS: { path: ['limits', 'labels'], kind: 'integer' },
  PLATEN_MAX_CONNECTIONS: { path: ['limits', 'connections'], kind: 'integer' },
  PLATEN_MAX_AGENTS: { path: ['limits', 'agents'], kind: 'integer' },
  PLATEN_MAX_REQUESTS_PER_SECOND: { path: ['limits', 'requestsPerSecond'], kind: 'integer' },
  PLATEN_MAX_WAITING_JOBS: { path: ['limits', 'waitingJobs'], kind: 'integer' },
  PLATEN_MAX_WAITING_JOBS_PER_PRINTER: { path: ['limits', 'waitingJobsPerPrinter'], kind: 'integer' },
  PLATEN_MAX_WAITING_BYTES: { path: ['limits', 'waitingBytes'], kind: 'integer' },
  PLATEN_MAX_TEMPLATES: { path: ['limits', 'templates'], kind: 'integer' },
  PLATEN_MAX_TEMPLATE_BYTES: { path: ['limits', 'templateBytes'], kind: 'integer' },
  PLATEN_KEEP_LABEL_DATA_HOURS: { path: ['retention', 'labelDataHours'], kind: 'integer' },
  PLATEN_KEEP_JOB_DAYS: { path: ['retention', 'jobDays'], kind: 'integer' },
  PLATEN_DB_CONNECTIONS: { path: ['poolSize'], kind: 'integer' },
  PLATEN_SSO_ISSUER: { path: ['singleSignOn', 'issuer'], kind: 'text' },
  PLATEN_SSO_CLIENT_ID: { path: ['singleSignOn', 'clientId'], kind: 'text' },
  PLATEN_SSO_CLIENT_SECRET: { path: ['singleSignOn', 'clientSecret'], kind: 'text', secret: true },
  PLATEN_SSO_TENANT: { path: ['singleSignOn', 'tenant'], kind: 'text' },
  PLATEN_SSO_NAME: { path: ['singleSignOn', 'name'], kind: 'text' },
  PLATEN_SSO_SCOPE: { path: ['singleSignOn', 'scope'], kind: 'text' },
  PLATEN_SSO_LOGIN_CLAIM: { path: ['singleSignOn', 'loginClaim'], kind: 'text' },
  PLATEN_SSO_ROLE_CLAIM: { path: ['singleSignOn', 'roleClaim'], kind: 'text' },
  PLATEN_SSO_ROLES: { path: ['singleSignOn', 'roles'], kind: 'pairs' },
  OTEL_EXPORTER_OTLP_ENDPOINT: { path: ['traces', 'endpoint'], kind: 'text' },
  OTEL_EXPORTER_OTLP_HEADERS: { path: ['traces', 'headers'], kind: 'text', secret: true },
  OTEL_SERVICE_NAME: { path: ['traces', 'service'], kind: 'text' },
  AUTH_ISSUER: { path: ['externalAuth', 'issuer'], kind: 'text' },
  AUTH_JWKS_URL: { path: ['externalAuth', 'jwksUrl'], kind: 'text' },
  AUTH_TOKEN_TYPE: { path: ['externalAuth', 'tokenType'], kind: 'text' },
  AUTH_TENANT_CLAIM: { path: ['externalAuth', 'tenantClaim'], kind: 'text' },
};

const SWITCHES: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false };

function parse(variable: Variable, text: string): { value: unknown } | { expected: string } {
  if (variable.kind === 'integer') {
    return /^-?\d+$/.test(text) ? { value: Number(text) } : { expected: 'expected a whole number' };
  }
  if (variable.kind === 'text') return { value: text };
  if (variable.kind === 'list') return { value: text.split(',').map((one) => one.trim()) };
  if (variable.kind === 'pairs') return pairs(text);
  if (variable.kind === 'proxies') return { value: proxiesFromText(text) };
  const value = SWITCHES[text.toLowerCase()];
  return value === undefined ? { expected: 'expected true or false' } : { value };
}

/** Parses `warehouse=operator, it=admin`. The last `=` separates, since a group's name may contain one. */
function pairs(text: string): { value: unknown } | { expected: string } {
  const found = text.split(',').map((pair) => /^\s*(\S.*)=\s*(\w+)\s*$/.exec(pair));
  if (found.includes(null)) return { expected: 'expected group=role, separated by commas' };
  return { value: Object.fromEntries(found.flatMap((one) => (one ? [[one[1], one[2]]] : []))) };
}

/**
 * The configuration from environment variables. `overrides` (command-line flags) take precedence over them,
 * and they over the configuration file.
 * @throws ConfigError naming every variable that is wrong.
 */
export function configFromEnv(
  env: Readonly<Record<string, string | undefined>>,
  overrides: Partial<ServerConfigInput> = {},
  file: Partial<ServerConfigInput> = {},
): ServerConfig {
  const faults: string[] = [];
  const given: Record<string, unknown> = { ...file };
  for (const [name, variable] of Object.entries(VARIABLES)) {
    const text = env[name];
    if (text === undefined || text === '') continue;
    const parsed = parse(variable, text);
    if ('expected' in parsed) {
      faults.push(`${name}=${shown(variable, text)}: ${parsed.expected}`);
      continue;
    }
    const [outer, inner] = variable.path;
    const group = given[outer];
    given[outer] =
      inner === undefined
        ? parsed.value
        : { ...(typeof group === 'object' ? group : undefined), [inner]: parsed.value };
  }
  const result = serverConfig.safeParse({ ...given, ...overrides }, { reportInput: true });
  if (!result.success) {
    for (const issue of result.error.issues) {
      const overridden = Object.hasOwn(overrides, issue.path[0] ?? '');
      faults.push(describe(issue, overridden ? {} : env));
    }
  }
  if (faults.length > 0 || !result.success) {
    throw new ConfigError(`the configuration cannot be used:\n  ${faults.join('\n  ')}`);
  }
  return result.data;
}

/** @param env where the value may come from */
function describe(
  { path: steps, message, input }: z.core.$ZodIssue,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const path = steps.map(String).join('.');
  const found = Object.entries(VARIABLES).find(([, variable]) => variable.path.join('.') === path);
  if (found === undefined) return `${path}: ${message}`;
  const [name, variable] = found;
  const text = env[name];
  if (text !== undefined && text !== '') return `${name}=${shown(variable, text)}: ${message}`;
  if (input === undefined) return `${name} is missing: ${message}`;
  return `${path}=${shown(variable, typeof input === 'string' ? input : JSON.stringify(input))}: ${message}`;
}

function shown(variable: Variable, text: string): string {
  if (variable.secret) return '(a secret, not shown)';
  const safe = withoutCredentials(text);
  return safe.length > 80 ? `${safe.slice(0, 80)}…` : safe;
}
