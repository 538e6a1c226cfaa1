/** A template with one record as it would print, for whoever designs it or fills it in: nothing is saved or printed. */
import { type Preview, previewRequest } from '../../contract/label-picture.ts';
import type { LabelRecord } from '../../contract/print-request.ts';
import { because } from '../../contract/reason.ts';
import { designedTemplate, type Template, templateSchemaFor } from '../../contract/template.ts';
import type { CheckPool } from '../../rendering/check-pool.ts';
import { faultAt, parseBody, payloadInvalid, refusedBecause } from '../problems.ts';
import type { Pool } from '../store/pool.ts';
import { printerCommandsOf } from '../tenants/tenants.ts';
import { drawn } from './drawn-label.ts';
import type { SentFiles } from './sent-files.ts';
import type { Templates } from './templates.ts';
import { requireLengths } from './value-lengths.ts';

/** mm, for a raw ZPL template that does not say how large its label is: the most common size. */
export const UNKNOWN_SIZE = { width: 101.6, height: 152.4 };

/** @throws ProblemError `payload-invalid`, `file-unknown`, `template-not-found`, `label-undrawable`, `not-ready` */
export async function templatePreview(
  parts: { pool: Pool; templates: Templates; checks: CheckPool; files: SentFiles },
  tenantId: string,
  body: unknown,
): Promise<Preview> {
  const request = parseBody(previewRequest, body);
  const template = await templateOf(parts, tenantId, request);
  if (request.record !== undefined) requireLengths(template, [request.record], () => ['record']);
  if (template.language === 'zpl' && request.orientation === 'landscape') {
    throw refusedBecause('format-incompatible', because('raw-orientation', {}));
  }
  const printerCommands = template.language !== 'platen' && (await printerCommandsOf(parts.pool, tenantId));
  const { png, ...picture } = await drawn(parts.checks, tenantId, {
    template,
    dpi: request.dpi,
    media: UNKNOWN_SIZE,
    orientation: request.orientation,
    job: {
      createdAt: new Date().toISOString(),
      copies: 1,
      records: { length: 1 },
      ...(printerCommands && { printerCommands: true as const }),
    },
    record: request.record ?? samples(template),
    index: 0,
    copy: 0,
    width: request.width,
    preview: true,
  });
  return {
    png: png === null ? null : Buffer.from(png).toString('base64'),
    width: picture.width,
    height: picture.height,
    dpi: request.dpi,
    problems: [...picture.problems],
    boxes: [...picture.boxes],
    files: parts.files.keep(tenantId, request.template),
  };
}

async function templateOf(
  { templates, files }: { templates: Templates; files: SentFiles },
  tenantId: string,
  { template, templateId }: { template?: unknown; templateId?: string },
): Promise<Template> {
  if (templateId !== undefined && template === undefined) {
    return (await templates.get(tenantId, templateId)).template;
  }
  if (templateId !== undefined || template === undefined) {
    throw payloadInvalid([
      faultAt('/template', because('one-of-two', { one: 'template', other: 'templateId' })),
    ]);
  }
  const schema = templateSchemaFor(template);
  return parseBody(schema, schema === designedTemplate ? files.whole(tenantId, template) : template);
}

/** A record of the fields' samples; a field without a sample prints as its default, or as nothing. */
function samples({ fields }: Template): LabelRecord {
  return Object.fromEntries(
    fields.flatMap(({ name, sample }) => (sample === undefined ? [] : [[name, sample]])),
  );
}
