/**
 * People and what they may do. A person belongs to one tenant and has one role there; a session is a person's, and sees
 * nothing of another tenant. Machines use the deployment's admin token, which may do everything.
 */
import { z } from 'zod';
import { deedKind } from './deeds.ts';
import { wordsOf } from './define-faults.ts';
import { givenText } from './given-text.ts';
import { saying } from './reason.ts';
import { tenantId } from './tenant-id.ts';

/** What a route of `/app` needs of its caller; every route names one of them. */
export const NEEDS = {
  'jobs:read': 'see jobs, printers, agents and templates, without what is on the labels',
  'labels:read': 'see the pictures and the values of labels',
  'jobs:act': 'print, reprint, cancel, release and move jobs',
  'printers:act': 'hold, resume, clear, rename, forget and test printers',
  'templates:edit': 'import, rename and delete templates',
  integrations: 'make and revoke service accounts, and agents at other sites',
  people: 'invite people, give roles, read the audit',
  deployment: 'make tenants, set quotas, act on printers that tenants share',
} as const;
export const NEED_WORDS = wordsOf(NEEDS);
export const need = z.enum(NEED_WORDS);
export type Need = z.infer<typeof need>;

export const ROLES = ['viewer', 'operator', 'designer', 'admin'] as const;
export const role = z.enum(ROLES);
export type Role = z.infer<typeof role>;

/** What each role may do in its tenant. No role has `deployment`: see `personView`. */
const VIEWER = ['jobs:read'] as const satisfies readonly Need[];
const OPERATOR = [...VIEWER, 'labels:read', 'jobs:act', 'printers:act'] as const satisfies readonly Need[];
const DESIGNER = [...OPERATOR, 'templates:edit'] as const satisfies readonly Need[];
const ADMIN = [...DESIGNER, 'integrations', 'people'] as const satisfies readonly Need[];
export const ROLE_MAY: Readonly<Record<Role, readonly Need[]>> = {
  viewer: VIEWER,
  operator: OPERATOR,
  designer: DESIGNER,
  admin: ADMIN,
};

/** In every request that changes something by a session's cookie: no form and no foreign page can set it. */
export const CONSOLE_HEADER = 'x-platen-console';

/**
 * What a person signs in with: an e-mail address or a short name, unique in the tenant; in lower case, and letters that look
 * the same are the same (Unicode's NFKC: full-width, ligatures).
 */
export const login = z
  .string()
  .normalize('NFKC')
  .trim()
  .toLowerCase()
  .regex(/^[^\s\p{C}]{1,200}$/u, { error: saying('login-characters', {}) });
export const password = z
  .string()
  .min(10, { error: saying('least-characters', { least: 10 }) })
  .max(500, { error: saying('most-characters', { most: 500 }) });
const personName = z
  .string()
  .trim()
  .regex(/^[^\p{C}]{1,200}$/u, { error: saying('name-characters', {}) });
/** A one-time token, of an invitation or a sign-in link. */
const token = z.string().regex(/^[\w-]{20,200}$/, { error: 'expected a token as the link has it' });

// GET|POST /app/tenants/{id}/people, PUT|DELETE …/people/{personId}, POST …/people/{personId}/invitation
const PERSON_STATES = ['invited', 'active', 'revoked'] as const;
export const personView = z.object({
  id: z.string(),
  tenant: tenantId,
  login: z.string(),
  name: z.string(),
  role,
  /** May also do what concerns all tenants. */
  deployment: z.boolean(),
  state: z.enum(PERSON_STATES),
  createdAt: z.iso.datetime(),
  lastSeenAt: z.iso.datetime().nullable(),
});
export type PersonView = z.infer<typeof personView>;
export const personInvite = z.strictObject({
  login,
  name: personName.optional(),
  role: role.default('viewer'),
});
export const personChange = z.strictObject({ role });
/** `url` holds a token that works once: it is shown this one time. */
export const invitationCreated = z.object({
  person: personView,
  url: z.string(),
  expiresAt: z.iso.datetime(),
});
export type InvitationCreated = z.infer<typeof invitationCreated>;

// POST /app/invitations/look, POST /app/invitations/accept (answers with a session)
export const invitationLook = z.strictObject({ token });
export const invitationView = z.object({
  tenant: z.object({ id: tenantId, name: z.string() }),
  login: z.string(),
  name: z.string(),
  role,
});
export type InvitationView = z.infer<typeof invitationView>;
export const invitationAccept = z.strictObject({ token, password, name: personName.optional() });

// POST /app/links: a link that signs a person in once; for the admin token
export const signInLinkCreate = z.strictObject({
  tenant: tenantId.default('default'),
  login: login.default('admin'),
});
export const signInLink = z.object({ url: z.string(), expiresAt: z.iso.datetime() });
export type SignInLink = z.infer<typeof signInLink>;

// GET|POST|DELETE /app/session, POST /app/session/link, DELETE /app/sessions (everywhere), PUT /app/session/password
export const signIn = z.strictObject({
  tenant: tenantId.default('default'),
  login,
  password: z.string().max(500),
});
export const linkSignIn = z.strictObject({ token });
export const passwordSet = z.strictObject({
  /** Left out only by a person who has no password yet. */
  current: z.string().max(500).optional(),
  password,
});
const jobLimits = z.object({ records: z.int(), labels: z.int() });
export const sessionView = z.object({
  person: z.object({ id: z.string(), login: z.string(), name: z.string(), role, hasPassword: z.boolean() }),
  /** `mediaMustFit`: a job whose label does not fit the printer's media is refused. */
  tenant: z.object({ id: tenantId, name: z.string(), mediaMustFit: z.boolean() }),
  may: z.array(need),
  /** When the session ends in any case; without requests it ends sooner. */
  expiresAt: z.iso.datetime(),
  /** Most records, and most labels, of one job in this deployment. */
  limits: jobLimits,
});
export type SessionView = z.infer<typeof sessionView>;

// GET /app/sign-in: the ways in, besides the password
export const waysIn = z.object({
  /** Single sign-on, and the tenant whose people it is for. */
  provider: z.object({ name: z.string(), tenant: tenantId }).nullable(),
  /** Passkeys need a name by which browsers know the service: a domain with https, or localhost. */
  passkeys: z.boolean(),
});
export type WaysIn = z.infer<typeof waysIn>;

// POST /app/session/provider: answers with where the browser is to go. From there the provider leads it to
// GET /app/session/provider/callback, which leads to the console, signed in or with `#refused=`.
export const providerBegin = z.strictObject({
  /** The provider asks who it is even if it knows, because somebody has signed out in this browser. */
  again: z.boolean().default(false),
});
export const providerBegun = z.object({ url: z.string() });
const PROVIDER_REFUSALS = [
  'canceled',
  'expired',
  'not-invited',
  'not-verified',
  'provider-away',
  'provider-refused',
  'too-often',
] as const;
export const providerRefusal = z.enum(PROVIDER_REFUSALS);
export type ProviderRefusal = z.infer<typeof providerRefusal>;

// GET|POST /app/session/passkeys, POST …/options, DELETE …/{passkeyId}; to sign in: POST /app/session/passkey/options,
// POST /app/session/passkey. Options and answers are WebAuthn's own JSON (Level 3, §5.1.8 and §5.1.9).
export const passkeyView = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable(),
});
export type PasskeyView = z.infer<typeof passkeyView>;
const wish = z.enum(['required', 'preferred', 'discouraged']);
const credentialName = z.object({ id: z.string(), type: z.literal('public-key') });
export const passkeyRequest = z.object({
  challenge: z.string(),
  rpId: z.string(),
  timeout: z.number(),
  userVerification: wish,
});
export const passkeyCreation = z.object({
  challenge: z.string(),
  rp: z.object({ id: z.string(), name: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  pubKeyCredParams: z.array(z.object({ alg: z.number(), type: z.literal('public-key') })),
  timeout: z.number(),
  attestation: z.string(),
  excludeCredentials: z.array(credentialName),
  authenticatorSelection: z.object({
    residentKey: wish,
    requireResidentKey: z.boolean(),
    userVerification: wish,
  }),
});
const base64url = z.string().regex(/^[\w-]{1,8000}$/, { error: 'expected base64url' });
const ofAuthenticator = z.object({
  id: base64url.max(1_400),
  rawId: base64url,
  type: z.literal('public-key'),
});
export const passkeyBegin = z.strictObject({
  /** Left out only by a person who has no password. */
  current: z.string().max(500).optional(),
});
export const passkeyAdd = z.strictObject({
  name: personName.max(60),
  credential: ofAuthenticator.extend({
    response: z.object({
      clientDataJSON: base64url,
      attestationObject: base64url,
      transports: z.array(z.string().max(30)).max(10).default([]),
    }),
  }),
});
export const passkeySignIn = z.strictObject({
  credential: ofAuthenticator.extend({
    response: z.object({
      clientDataJSON: base64url,
      authenticatorData: base64url,
      signature: base64url,
      userHandle: base64url.nullish(),
    }),
  }),
});

// GET /app/audit?tenant=&before=&limit=&about=&text=&since=
export const auditFilter = z.strictObject({
  tenant: tenantId.optional(),
  about: deedKind.optional(),
  /** Part of who it was, of what it was done to (its ID, its name of today), of a detail, or of the address. */
  text: givenText.trim().min(1).max(200).optional(),
  since: z.iso.datetime({ offset: true }).optional(),
  /** Only entries older than this one: `next` of the page before. */
  before: z
    .string()
    .regex(/^\d{1,18}$/)
    .optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
});
export type AuditFilter = z.output<typeof auditFilter>;
export const auditEntry = z.object({
  id: z.string(),
  at: z.iso.datetime(),
  tenant: tenantId.nullable(),
  /** Who: a person's login as it was then, or the machine that had the admin token. */
  who: z.object({ kind: z.enum(['person', 'machine']), id: z.string(), name: z.string() }),
  /** What was done, one of `DEEDS`; a newer version may have others. */
  what: z.string(),
  /** The object's ID, if there is one. */
  object: z.string().nullable(),
  /** Facts without label data. */
  details: z.record(z.string(), z.json()),
  /** The caller's address. */
  from: z.string().nullable(),
});
export type AuditEntry = z.infer<typeof auditEntry>;
export const auditPage = z.object({
  entries: z.array(auditEntry),
  /** For `before`; null: there are no older ones. With a filter a page may have few entries, or none, and others follow. */
  next: z.string().nullable(),
});
export type AuditPage = z.infer<typeof auditPage>;

// GET /app/events: server-sent events named `changed`; one named `resync` says that some were left out, so everything is
// to be asked again (also sent first on each stream)
export const changes = z.object({
  jobs: z.array(z.string()),
  printers: z.array(z.string()),
  /** Agents at other sites; what they report of their printers is a change of those. */
  agents: z.array(z.string()).default([]),
  /** Tenants whose templates, people or integrations have changed. */
  tenants: z.array(z.string()).default([]),
});
export type Changes = z.infer<typeof changes>;
/** A change as the service's code tells it; `all`: anything may have changed. */
export type Changed = Partial<Changes> & { all?: boolean };
