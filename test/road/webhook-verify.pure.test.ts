/** The JavaScript client takes a webhook's message for right where npm's `standardwebhooks` does. */
import { expect, test } from 'vitest';
import { PlatenError, webhooks } from '../../clients/javascript/platen.js';
import { webhookCases } from './webhook-messages.ts';

const cases = webhookCases();

test('half of the messages are right', () => {
  expect(cases.filter(({ verified }) => verified)).toHaveLength(8);
});

test.each(cases)('$what', ({ secrets, body, headers, verified }) => {
  const verify = () => webhooks.verify(secrets, body, headers);
  if (verified) {
    expect(verify()).toEqual(JSON.parse(body));
    expect(webhooks.verify(secrets, Buffer.from(body), new Headers(headers)).type).toBe('job.held');
  } else {
    expect(verify).toThrow(PlatenError);
    expect(verify).toThrow(expect.objectContaining({ code: 'webhook-unverified', status: undefined }));
  }
});

test('bytes that are no text are signed as they are', () => {
  const [right] = cases;
  const bytes = Buffer.concat([Buffer.from(right?.body ?? ''), Buffer.from([0xff])]);
  expect(() => webhooks.verify(right?.secrets ?? [], bytes, right?.headers ?? {})).toThrow('no signature');
});

test('an empty secret verifies nothing', () => {
  const [right] = cases;
  expect(() => webhooks.verify('whsec_', right?.body ?? '', right?.headers ?? {})).toThrow(TypeError);
});
