/** What an agent at another site knows of its service: a file beside its journal, made by `platen agent enroll`. */
import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { z } from 'zod';
import { openDataDir } from '../agent/data-dir.ts';
import { ENROLL_PATH, origin, signedToEnroll } from '../contract/gateway.ts';
import { type Enroll, type Enrolled, enrolled, plainCode } from '../contract/invitation.ts';
import { scope } from '../contract/lane.ts';
import { ENROLMENT } from '../contract/own-user.ts';
import { agentId } from '../contract/report.ts';
import { type JoiningAgent, proxyOf, type WebAgentOptions, webAgent, whyNotReached } from '../queue/index.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { writeSecret } from './own-secrets.ts';
import { refusal } from './refusal.ts';

/** How long the service may take, ms; and the longest answer that is read, characters. */
const ANSWER = { ms: 30_000, most: 100_000 };

const enrolment = z.object({
  origin,
  pin: z.string().optional(),
  /** The site's, as the environment named it when the agent enrolled: the service's unit needs none. */
  proxy: z.object({ https: z.string(), not: z.string().optional() }).optional(),
  agentId,
  name: z.string(),
  scope,
  privateKey: z.string(),
});
/** What the service gives the agent to keep, anew each time that it joins. */
const STATE = 'gateway-state';
export type Enrolment = z.infer<typeof enrolment>;

/** Undefined: the agent has not enrolled. @throws CommandFailure for a file that cannot be used */
export async function readEnrolment(dataDir: string): Promise<Enrolment | undefined> {
  const file = join(dataDir, ENROLMENT);
  try {
    return enrolment.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new CommandFailure(`${file} cannot be used: ask for another code, and enrol again`, EXIT.failed);
  }
}

/** @param forget has the agent forget its jobs */
export async function keptState(
  dataDir: string,
  forget: () => Promise<void>,
): Promise<NonNullable<JoiningAgent['kept']>> {
  const file = join(dataDir, STATE);
  let state = await readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  let forgetting: Promise<void> | undefined;
  let last: Promise<void> = Promise.resolve();
  return {
    get state() {
      return state;
    },
    keep(next, journalLost) {
      // It may take longer than a connection waits: the next one waits for the same, and what it is given is written last.
      if (journalLost) {
        forgetting ??= forget().finally(() => {
          forgetting = undefined;
        });
      }
      const kept = Promise.all([forgetting, last.catch(() => undefined)]).then(async () => {
        await writeSecret(file, next);
        state = next;
      });
      last = kept;
      return kept;
    },
  };
}

/**
 * @param invitation as the service has made it: `https://platen.example#7K3M-Q9TX-2VHD-R8WP`, and maybe `~<pin>`
 * @throws CommandFailure `usage`
 */
function readInvitation(invitation: string): { origin: string; code: string; pin?: string } {
  const url = URL.parse(invitation.trim());
  const [written = '', pin] = (url?.hash.slice(1) ?? '').split('~', 2);
  const code = plainCode(written);
  if (url === null || !/^https?:$/.test(url.protocol) || written === '') {
    throw new CommandFailure(
      'Expected the whole invitation, in quotes: the address, "#" and the code, as https://platen.example#7K3M-Q9TX-2VHD-R8WP',
      EXIT.usage,
    );
  }
  if (code === undefined) {
    throw new CommandFailure(
      `"${written.slice(0, 40)}" is no code: it has 16 letters and digits, and one of them is wrong or missing`,
      EXIT.usage,
    );
  }
  return { origin: url.origin, code, ...(pin !== undefined && { pin }) };
}

/** Makes a key, has the service keep its public half, and writes the file. @throws CommandFailure, DataDirError */
export async function enrollAgent(invitation: string, dataDir: string): Promise<Enrolment> {
  const { code, ...place } = readInvitation(invitation);
  const data = openDataDir(dataDir);
  try {
    const before = await readEnrolment(dataDir);
    const { publicKey, privateKey } = keysOf(before);
    const asked = { code, agentId: data.agentId, publicKey, origin: place.origin };
    const signature = sign(null, signedToEnroll(asked), privateKey).toString('base64url');
    const { name, scope } = await ask(place.origin, place, { ...asked, signature });
    const proxy = proxyOf(process.env);
    const made = { ...place, ...(proxy && { proxy }), agentId: data.agentId, name, scope, privateKey };
    await rm(join(dataDir, STATE), { force: true });
    await writeSecret(join(dataDir, ENROLMENT), JSON.stringify(made));
    return made;
  } finally {
    data.close();
  }
}

/** The service has given the agent to another tenant. */
export async function keepScope(dataDir: string, of: Enrolment, scope: Enrolment['scope']): Promise<void> {
  await writeSecret(join(dataDir, ENROLMENT), JSON.stringify({ ...of, scope }));
}

/** The agent's own key, where it has one: an agent that enrols again stays the same. */
function keysOf(before: Enrolment | undefined): { publicKey: string; privateKey: string } {
  const { privateKey } =
    before ??
    generateKeyPairSync('ed25519', {
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
  const { x } = z.object({ x: z.string() }).parse(createPublicKey(privateKey).export({ format: 'jwk' }));
  return { publicKey: x, privateKey };
}

async function ask(to: string, reach: WebAgentOptions, body: Enroll): Promise<Enrolled> {
  const url = new URL(ENROLL_PATH, to);
  const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
    method: 'POST',
    agent: webAgent(to, reach),
    headers: { 'content-type': 'application/json' },
    signal: AbortSignal.timeout(ANSWER.ms),
  });
  const answered = Promise.withResolvers<{ status: number; text: string }>();
  request.on('error', answered.reject);
  request.on('response', (response) => {
    const { statusCode: status = 0 } = response;
    if (Number(response.headers['content-length'] ?? 0) > ANSWER.most) response.destroy();
    textOf(response).then((text) => answered.resolve({ status, text }), answered.reject);
  });
  request.end(JSON.stringify(body));
  const { status, text } = await answered.promise.catch((error: unknown) => {
    throw new CommandFailure(`${to} is not reached: ${whyNotReached(error)}`);
  });
  const json = parseJson(text);
  const read = enrolled.safeParse(json);
  if (status === 200 && read.success) return read.data;
  if (status >= 400 && json !== undefined) throw refusal(status, json);
  throw new CommandFailure(
    `${to} answers, but not as a Platen service (HTTP ${status}): is a page to sign in before it?`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
