/**
 * The internal interface under `/app`, which the command line and the console use. The command line sends the
 * deployment's admin token as bearer credential, the console a session's cookie. It may change without
 * notice.
 */
import { z } from 'zod';
import { givenText } from './given-text.ts';
import { reason } from './reason.ts';
import { templateLanguage } from './template.ts';
import { templateName } from './template-name.ts';
import { templateProblem } from './template-problem.ts';
import { tenantId } from './tenant-id.ts';

/** What a service account may do; all but `jobs:enqueue` are for what a deployment exposes beside the interface. */
export const PERMISSIONS = [
  'jobs:enqueue',
  'jobs:read',
  'jobs:cancel',
  'templates:read',
  'printers:read',
  'labels:render',
] as const;
export const permission = z.enum(PERMISSIONS);
export type Permission = z.infer<typeof permission>;
/** What a new account may do unless its maker says otherwise: print, and see what it needs for that. */
export const USUAL_SCOPE = [
  'jobs:enqueue',
  'jobs:read',
  'templates:read',
  'printers:read',
] as const satisfies Permission[];

// POST /app/tenants, GET /app/tenants, PUT /app/tenants/{id}/quota, PUT /app/tenants/{id}/printer-commands,
// PUT /app/tenants/{id}/media-fit
export const tenantCreate = z.strictObject({
  id: tenantId,
  name: givenText.trim().min(1).max(200).optional(),
});
export const quotaSet = z.strictObject({
  /** Labels per calendar month (UTC); null: no limit. */
  labels: z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullable(),
});
/** Raw templates of the tenant may set printers up. */
export const printerCommandsSet = z.strictObject({ allowed: z.boolean() });
/** A job whose label does not fit the printer's media is refused (`media-mismatch`); else that is a warning. */
export const mediaFitSet = z.strictObject({ must: z.boolean() });
export const tenantView = z.object({
  id: tenantId,
  name: z.string(),
  printerCommands: z.boolean(),
  mediaMustFit: z.boolean(),
  quota: z.object({
    labels: z.int().nullable(),
    used: z.int(),
    /** Of test keys, which take nothing from the others' quota. */
    tests: z.object({ labels: z.int(), used: z.int() }),
  }),
});
export type TenantView = z.infer<typeof tenantView>;
/** DELETE /app/tenants/{id}. Not erased: there is more, ask again. `jobs`: that this request has deleted; `audit`: entries that stay. */
export const tenantErased = z.object({
  tenant: tenantId,
  erased: z.boolean(),
  jobs: z.int(),
  audit: z.int().exactOptional(),
});
export type TenantErased = z.infer<typeof tenantErased>;

// POST|GET /app/tenants/{id}/integrations, DELETE …/integrations/{apiKey}, POST …/{apiKey}/secrets (rotates),
// DELETE …/{apiKey}/secrets/{old|new}
export const integrationCreate = z.strictObject({
  name: givenText.trim().min(1).max(200),
  scope: z.array(permission).default([...USUAL_SCOPE]),
  /** A test key, whose jobs print on virtual printers only. It stays one. */
  test: z.boolean().default(false),
});
export const integrationView = z.object({
  apiKey: z.string(),
  name: z.string(),
  scope: z.string(),
  test: z.boolean().default(false),
  createdAt: z.iso.datetime(),
  /** Up to five minutes old; null: never. */
  lastUsedAt: z.iso.datetime().nullable(),
  secretCreatedAt: z.iso.datetime(),
  /** A second secret that still works; `endsAt` null: until it is removed. */
  oldSecret: z.object({ createdAt: z.iso.datetime(), endsAt: z.iso.datetime().nullable() }).nullable(),
  revokedAt: z.iso.datetime().nullable(),
});
export type IntegrationView = z.infer<typeof integrationView>;
/** Who sends jobs over HTTP, for those who see jobs, but no keys' permissions: what jobs have as their account, and its name. */
export const jobSender = integrationView.pick({ apiKey: true, name: true, test: true });
export type JobSender = z.infer<typeof jobSender>;
/** What an integrator enters to use the interface. The secret is shown this one time. */
export const integrationCreated = z.object({
  tokenUrl: z.string(),
  audience: z.string(),
  scope: z.string(),
  tenant: tenantId,
  test: z.boolean().default(false),
  printEndpoint: z.string(),
  apiKey: z.string(),
  apiSecret: z.string(),
  /** Both in one, for clients of PrintNode's and of printers; left out where the deployment does not serve those. */
  printNodeKey: z.string().optional(),
});
export type IntegrationCreated = z.infer<typeof integrationCreated>;
export const SECRETS = ['old', 'new'] as const;
export const integrationRotate = z.strictObject({
  /** h for which the old secret works; left out: until somebody removes it. */
  oldForHours: z.int().min(1).max(8_760).optional(),
});
/** As `integrationCreated`, with the new secret; the old one works too. */
export const integrationRotated = integrationCreated.extend({
  oldSecret: integrationView.shape.oldSecret,
});
export type IntegrationRotated = z.infer<typeof integrationRotated>;

// GET /app/tenants/{id}/usage?days=: labels of accepted jobs, as the quota counts them
export const MOST_USAGE_DAYS = 366;
/** Most templates, and most printers, that are named; the others count in the days only. */
export const MOST_NAMED = 10;
export const usageQuery = z.strictObject({
  /** Whole days in UTC, the last of which is today. */
  days: z.coerce.number().int().min(1).max(MOST_USAGE_DAYS).default(30),
});
const used = z.object({ jobs: z.int(), labels: z.int() });
const usedBy = used.extend({ id: z.string(), name: z.string() });
export const usage = z.object({
  /** One entry for each day, the oldest first. */
  days: z.array(used.extend({ day: z.iso.date() })),
  /** Those with the most labels first. */
  templates: z.array(usedBy),
  printers: z.array(usedBy),
});
export type Usage = z.infer<typeof usage>;

// POST|GET /app/tenants/{id}/templates, GET|PUT|DELETE …/templates/{templateId}, PUT …/templates/{templateId}/name; the
// POST body is a template
export const templateRename = z.strictObject({ name: templateName });
export const templateReplace = z.strictObject({
  /** The version that this template replaces, as the template's GET or last PUT said. */
  version: z.string().max(40),
  template: z.unknown(),
  /** The template takes the place of its draft, which goes. */
  endsDraft: z.boolean().default(false),
});
// PUT …/templates/{templateId}/draft
export const templateDraftSave = z.strictObject({ version: z.string().max(40), template: z.unknown() });
/** In the answer to a template's GET: what was saved while it could not print. */
export const templateDraft = z.object({
  template: z.unknown(),
  /** Who saved it; null: it is not known. */
  who: z.string().nullable(),
  at: z.iso.datetime(),
});
export type TemplateDraft = z.infer<typeof templateDraft>;
export const templateView = z.object({
  id: z.string(),
  name: z.string(),
  language: templateLanguage,
  fields: z.array(z.string()),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  /** Warnings of the check, in the answer to an import. */
  warnings: z.array(templateProblem).optional(),
});
export type TemplateView = z.infer<typeof templateView>;

// POST /app/tenants/{id}/jobs and …/jobs/validate take a print request; the other routes of jobs: `job-search.ts`,
// `job-details.ts`, `job-actions.ts`
/** Answer of a validation: `POST /v2/jobs/validate`. */
const validationWarning = z.object({
  code: z.enum(['field-missing', 'field-unknown', 'size-mismatch', 'off-label']),
  message: z.string(),
  /** What the message says, as a code and what is filled in. */
  reason: reason.optional(),
  /** Index of the record in `data`. */
  record: z.int().min(0).optional(),
  field: z.string().optional(),
});
export const validationResult = z.object({
  valid: z.literal(true),
  /** Labels that the job would print and take from the quota. */
  labels: z.int().min(0),
  route: z.object({
    printerId: z.string(),
    printer: z.string(),
    agentId: z.string(),
    format: z.object({ id: z.string(), name: z.string() }),
  }),
  /** At most the first 1,000. */
  warnings: z.array(validationWarning),
  /** How many there are in all. */
  warningCount: z.int().min(0),
});
export type ValidationResult = z.infer<typeof validationResult>;
