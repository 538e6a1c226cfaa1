/** Messages of webhooks, right and wrong, signed by npm's `standardwebhooks`, which also says which of them are right. */
import { Webhook } from 'standardwebhooks';

export interface WebhookCase {
  what: string;
  secrets: string[];
  body: string;
  headers: Record<string, string>;
  verified: boolean;
}

const [secret, other] = ['first', 'second'].map(
  (name) => `whsec_${Buffer.from(`${name} secret of 24 bytes!`).toString('base64')}`,
);
if (secret === undefined || other === undefined) throw new Error('no secrets');
const body = JSON.stringify({
  type: 'job.held',
  timestamp: '2026-11-26T08:00:00.000Z',
  data: { id: 'größer ✓' },
});
const id = '0198c5c1-6b1e-7000-8000-000000000000';

function signed(by: string, seconds = 0, text = body): Record<string, string> {
  const at = new Date(Date.now() + seconds * 1_000);
  const time = String(Math.floor(at.getTime() / 1_000));
  return {
    'webhook-id': id,
    'webhook-timestamp': time,
    'webhook-signature': new Webhook(by).sign(id, at, text),
  };
}

/** Made for the time of the call. */
export function webhookCases(): WebhookCase[] {
  const right = signed(secret ?? '');
  const without = (name: string) => Object.fromEntries(Object.entries(right).filter(([one]) => one !== name));
  const sign = right['webhook-signature'] ?? '';
  const upper = Object.fromEntries(Object.entries(right).map(([name, value]) => [name.toUpperCase(), value]));
  const changed = (headers: Record<string, string>) => ({ ...right, ...headers });
  const cases: [what: string, headers: Record<string, string>, others?: Partial<WebhookCase>][] = [
    ['as it was sent', right],
    ['headers in capitals', upper],
    ['a secret without its prefix', right, { secrets: [(secret ?? '').slice(6)] }],
    ['the second of two secrets', right, { secrets: [other ?? '', secret ?? ''] }],
    [
      'signatures of two secrets',
      changed({ 'webhook-signature': `${signed(other ?? '')['webhook-signature']} ${sign}` }),
    ],
    ['a signature of a later version beside it', changed({ 'webhook-signature': `v2,abc ${sign}` })],
    ['almost too old', signed(secret ?? '', -240)],
    ['almost too new', signed(secret ?? '', 240)],
    ['another secret', right, { secrets: [other ?? ''] }],
    ['another body', right, { body: body.replace('held', 'printed') }],
    ['a space more', right, { body: `${body} ` }],
    ['another ID', changed({ 'webhook-id': 'other' })],
    ['another time', changed({ 'webhook-timestamp': String(Number(right['webhook-timestamp']) + 1) })],
    ['too old', signed(secret ?? '', -310)],
    ['too new', signed(secret ?? '', 310)],
    ['no time', changed({ 'webhook-timestamp': 'now' })],
    ['no version', changed({ 'webhook-signature': sign.slice(3) })],
    ['another version', changed({ 'webhook-signature': sign.replace('v1', 'v2') })],
    ['half a signature', changed({ 'webhook-signature': sign.slice(0, 20) })],
    ['letters beyond ASCII', changed({ 'webhook-signature': 'v1,größer' })],
    ['no ID', without('webhook-id')],
    ['no timestamp', without('webhook-timestamp')],
    ['no signature', without('webhook-signature')],
  ];
  return cases.map(([what, headers, others = {}]) => {
    const one = { what, headers, secrets: [secret ?? ''], body, ...others };
    return { ...one, verified: one.secrets.some((by) => isRight(by, one)) };
  });
}

function isRight(by: string, { body: text, headers }: Pick<WebhookCase, 'body' | 'headers'>): boolean {
  try {
    new Webhook(by).verify(text, headers);
    return true;
  } catch {
    return false;
  }
}
