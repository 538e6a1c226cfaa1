/** Labelary's interface in `/openapi.json`: the way that programs should take, a POST for one label and one for all. */
import { z } from 'zod';
import type { ZodOpenApiContentObject, ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi';

const ADDRESS = '/labelary/v1/printers/{dpmm}dpmm/labels/{width}x{height}';
const side = z.number().positive().max(15).meta({ description: 'Inches.', example: 4 });
const media = {
  dpmm: z.enum(['6', '8', '12', '24']).meta({ description: 'Dots a millimetre.', example: '8' }),
  width: side,
  height: side,
};
const header = z.object({
  'X-Rotation': z.enum(['0', '90', '180', '270']).optional().meta({ description: 'Clockwise.' }),
  'X-Page-Size': z.enum(['Letter', 'Legal', 'A4', 'A5', 'A6']).optional().meta({ description: 'Of a PDF.' }),
  'X-Page-Orientation': z.enum(['Portrait', 'Landscape']).optional(),
  'X-Page-Layout': z.string().optional().meta({ description: 'Columns x rows of labels.', example: '2x3' }),
  'X-Page-Align': z.enum(['Justify', 'Center', 'Left', 'Right']).optional(),
  'X-Page-Vertical-Align': z.enum(['Justify', 'Center', 'Top', 'Bottom']).optional(),
  'X-Label-Border': z.enum(['None', 'Solid', 'Dashed']).optional(),
  'X-API-Key': z.string().optional().meta({ description: 'Where the deployment asks for one.' }),
});
const binary = { schema: { type: 'string', format: 'binary' } } as const;
const said = {
  schema: z.object({
    labels: z.array(z.object({ fields: z.array(z.object({ x: z.int(), y: z.int(), data: z.string() })) })),
  }),
  example: { labels: [{ fields: [{ x: 50, y: 50, data: 'Hello World' }] }] },
};

const ERRORS: Readonly<Record<string, string>> = {
  '400': 'Address, header, form or ZPL are not as expected.',
  '401': 'The key is missing or wrong.',
  '404': 'The ZPL has no such label.',
  '406': 'Another type is asked for.',
  '413': 'There are more than 50 labels, or 1 MiB.',
  '429': 'Too many requests; `Retry-After` says when again.',
  '503': 'Other labels are being drawn; `Retry-After` says when again.',
};

function operation(
  of: Pick<ZodOpenApiOperationObject, 'operationId' | 'summary' | 'requestParams'>,
  content: ZodOpenApiContentObject,
): ZodOpenApiOperationObject {
  return {
    ...of,
    description: 'As Labelary answers. Prints nothing, and keeps nothing.',
    tags: ['Labelary'],
    security: [],
    requestBody: {
      required: true,
      content: {
        'application/x-www-form-urlencoded': {
          schema: { type: 'string' },
          example: '^xa^cfa,50^fo100,100^fdHello World^fs^xz',
        },
        'multipart/form-data': { schema: { type: 'object', properties: { file: binary.schema } } },
      },
    },
    responses: {
      '200': {
        description: 'What the ZPL prints.',
        headers: z.object({ 'X-Total-Count': z.int().min(0).meta({ description: 'Labels of the ZPL.' }) }),
        content,
      },
      ...Object.fromEntries(
        Object.entries(ERRORS).map(([status, description]) => [
          status,
          { description, content: { 'text/plain': { schema: { type: 'string' }, example: 'ERROR: …' } } },
        ]),
      ),
    },
  };
}

const all = { 'application/pdf': binary, 'application/json': said };

export const LABELARY_PATHS: ZodOpenApiPathsObject = {
  [`${ADDRESS}/{index}/`]: {
    post: operation(
      {
        operationId: 'drawZplLabel',
        summary: 'Draw a label of some ZPL',
        requestParams: {
          path: z.object({
            ...media,
            index: z.int().min(0).meta({ description: 'Which label.', example: 0 }),
          }),
          header,
        },
      },
      { 'image/png': binary, ...all },
    ),
  },
  [`${ADDRESS}/`]: {
    post: operation(
      {
        operationId: 'drawZplLabels',
        summary: 'Draw all labels of some ZPL',
        requestParams: { path: z.object(media), header },
      },
      all,
    ),
  },
};
