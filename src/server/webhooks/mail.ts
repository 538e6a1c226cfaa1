/** Sends one mail by the deployment's SMTP server. */
import type { ServerConfig } from '../config.ts';
import { reasonOf, within } from './checked-place.ts';
import type { Sent } from './send.ts';

/** `after`: the ID of the mail that it answers. */
export type Mail = { id: string; to: string; title: string; text: string; after: string | null };

/** ms for all of it. */
const DEADLINE = 30_000;
/** ms for each step. */
const STEP = 10_000;
const LOCAL = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * A mail that arrives twice has one Message-ID. A password is sent over TLS only, but to this machine itself. Never
 * rejects: what went wrong is in `answer`.
 */
export async function sendMail(
  mail: Mail,
  { smtpUrl, from }: NonNullable<ServerConfig['mail']>,
  stops: AbortSignal,
): Promise<Sent> {
  const began = performance.now();
  const ended = (status: number | null, answer: string): Sent => ({
    ...{ status, answer: answer.slice(0, 1_024).replaceAll('\0', ''), retryAfter: null },
    ms: Math.round(performance.now() - began),
  });
  const signal = AbortSignal.any([stops, AbortSignal.timeout(DEADLINE)]);
  try {
    const transport = await transportTo(smtpUrl);
    const idOf = (id: string) => `<${id}@${from.split('@')[1] ?? 'platen'}>`;
    const sent = await within(
      transport.sendMail({
        ...{ from, to: mail.to, subject: mail.title, text: mail.text, messageId: idOf(mail.id) },
        ...(mail.after !== null && { inReplyTo: idOf(mail.after), references: idOf(mail.after) }),
        headers: { 'Auto-Submitted': 'auto-generated' },
      }),
      signal,
    );
    return ended(statusOf(sent.response) ?? 250, sent.response);
  } catch (error) {
    if (signal.aborted) return ended(null, `no answer within ${DEADLINE / 1000} s`);
    const response = error instanceof Error && 'response' in error ? error.response : undefined;
    if (typeof response !== 'string') return ended(null, reasonOf(error));
    return ended(statusOf(response), response);
  }
}

/** Whether the server lets us in, without a mail. @returns null: it does; else why not, in a word. Never rejects. */
export async function mailFails(smtpUrl: string, stops: AbortSignal): Promise<string | null> {
  const signal = AbortSignal.any([stops, AbortSignal.timeout(DEADLINE)]);
  try {
    await within((await transportTo(smtpUrl)).verify(), signal);
    return null;
  } catch (error) {
    return signal.aborted ? `no answer within ${DEADLINE / 1000} s` : reasonOf(error);
  }
}

async function transportTo(smtpUrl: string) {
  const { createTransport } = await import('nodemailer');
  const { hostname, port, protocol, username, password } = new URL(smtpUrl);
  return createTransport({
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    secure: protocol === 'smtps:',
    ...(port !== '' && { port: Number(port) }),
    ...(username !== '' && {
      auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
      requireTLS: !LOCAL.test(hostname),
    }),
    ...{ connectionTimeout: STEP, greetingTimeout: STEP, socketTimeout: STEP, dnsTimeout: STEP },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
}

function statusOf(response: string): number | null {
  const code = /^[2-5]\d\d/.exec(response)?.[0];
  return code === undefined ? null : Number(code);
}
