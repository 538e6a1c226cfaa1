/** Names and other words that people give: what the database could not keep is refused, with the place and what is expected. */
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { PRINTER, TEMPLATE } from '../kit/service/harness.ts';
import { useService } from '../kit/service/use-service.ts';

const service = useService({ redis: false });
const AGENT = 'agent-one';
const EXPECTED = 'expected text without NUL and without halves of characters';
const refused = z.object({
  code: z.string(),
  errors: z.array(z.object({ pointer: z.string(), detail: z.string(), value: z.string() })),
});
let template: string;

beforeAll(async () => {
  await service.tenant('acme');
  await service.agent([{}], { agentId: AGENT });
  template = await service.template('acme');
});

const named = (name: string): object => ({ name });
const CASES: [method: string, path: string, body: (text: string) => object, pointer: string][] = [
  ['POST', '/agents/invitations', named, '/name'],
  ['PUT', `/agents/${AGENT}/name`, named, '/name'],
  ['POST', `/agents/${AGENT}/printers`, (id) => ({ state: 'refused', printers: [id] }), '/printers/0'],
  ['POST', '/tenants', (name) => ({ id: 'globex', name }), '/name'],
  ['POST', '/tenants/acme/integrations', named, '/name'],
  ['POST', '/tenants/acme/people', (name) => ({ login: 'jo', name, role: 'viewer' }), '/name'],
  ['POST', '/tenants/acme/people', (login) => ({ login, name: 'Jo', role: 'viewer' }), '/login'],
  ['POST', '/tenants/acme/templates', (name) => ({ ...TEMPLATE, name }), '/name'],
  ['PUT', '/tenants/acme/templates/:template/name', named, '/name'],
  ['POST', '/tenants/acme/webhooks', (text) => ({ url: `https://192.0.2.1/${text}` }), '/url'],
  ['POST', '/tenants/acme/alerts', (text) => ({ form: 'chat', to: `https://192.0.2.1/${text}` }), '/to'],
  ['POST', '/tenants/acme/alerts', (text) => ({ form: 'mail', to: `${text}@platen.example` }), '/to'],
  ['PUT', `/printers/${PRINTER}/name`, named, '/name'],
  ['PUT', `/printers/${PRINTER}/about`, (note) => ({ place: '', group: '', note }), '/note'],
  ['POST', `/printers/${PRINTER}/hold`, (why) => ({ why }), '/why'],
  ['POST', '/printers/addresses', (name) => ({ agent: AGENT, address: '192.0.2.1', name }), '/name'],
];
test.each(CASES)('%s %s refuses a NUL, and half of a character', async (method, path, body, pointer) => {
  for (const bad of ['a\0b', 'a\ud800b', 'a\udc00']) {
    const answer = await service.admin(method, path.replace(':template', template), body(bad));
    expect(answer.status, answer.text).toBe(400);
    const { code, errors } = refused.parse(answer.body);
    expect(code).toBe('payload-invalid');
    expect(errors[0]).toMatchObject({ pointer, value: expect.stringMatching(/\\u(0000|d800|dc00)/) });
    expect(errors[0]?.detail).toMatch(/^expected /);
  }
});

test('a name with an emoji, which is two halves, is kept as it is', async () => {
  const name = 'Dock 🚢 e\u0301';
  const path = `/printers/${PRINTER}/name`;
  expect(await service.admin('PUT', path, { name })).toMatchObject({ status: 200, body: { name } });
  expect(await service.admin('PUT', path, { name: `${name}\0` })).toMatchObject({
    body: { errors: [{ pointer: '/name', detail: EXPECTED }] },
  });
});
