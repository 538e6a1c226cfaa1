/**
 * HTTP authentication towards IPP printers: Digest, or Basic if that is safe.
 *
 *   request ─▶ 401 with challenges ─▶ the best of them is answered ─▶ request again, once
 *                                     and kept: later requests carry an answer from the start
 *
 * Nothing is sent before a printer has asked. Digest (SHA-256 rather than MD5) never shows the password. Basic does, so it is
 * only answered if that is safe, or if the operator has allowed it (`inClear`).
 * Source: RFC 7616 (Digest), RFC 7617 (Basic), RFC 9110 §11 (challenges).
 */
import { createHash, randomBytes } from 'node:crypto';
import { TransportError } from '../connection.ts';

interface IppCredentials {
  user: string;
  password: string;
  /** Allows Basic even if it is not safe. Then whoever answers at the address sees the password. */
  inClear?: boolean;
}

interface Challenge {
  /** Lower case: `digest`. */
  scheme: string;
  parameters: ReadonlyMap<string, string>;
}

interface Request {
  method: string;
  /** The path with its query. */
  path: string;
}

const ALGORITHMS = [
  { name: 'SHA-256', hash: 'sha256' },
  { name: 'MD5', hash: 'md5' },
] as const;
type Algorithm = (typeof ALGORITHMS)[number];

type Answer =
  | { kind: 'basic' }
  | { kind: 'digest'; algorithm: Algorithm; challenge: Challenge; count: number };

const MOST_CHALLENGES = 10;
/** Longest header that is looked at, characters. */
const LONGEST = 8_192;

export class Authorization {
  readonly #credentials: IppCredentials;
  readonly #isSafe: () => boolean;
  readonly #clientNonce: () => string;
  #answer: Answer | undefined;

  /**
   * @param isSafe whether only this computer, or a printer with a verified certificate, would see a password that is sent now
   * @param clientNonce makes an unpredictable nonce; replaced in tests
   */
  constructor(
    credentials: IppCredentials,
    isSafe: () => boolean,
    clientNonce = () => randomBytes(16).toString('base64url'),
  ) {
    this.#credentials = credentials;
    this.#isSafe = isSafe;
    this.#clientNonce = clientNonce;
  }

  /** The header's value for the next request. Undefined: the printer has not asked yet. */
  header(request: Request): string | undefined {
    if (this.#answer === undefined) return undefined;
    const { user, password } = this.#credentials;
    return this.#answer.kind === 'basic'
      ? `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
      : this.#digest(this.#answer, request);
  }

  /**
   * Takes the printer's challenges.
   * @param sent the header that the refused request had
   * @returns whether a new answer can be tried; false: the answer that was sent is wrong, or no challenge is supported
   * @throws TransportError `device-unreachable`: only Basic is offered, and it is neither safe nor allowed
   */
  asked(header: string, sent: string | undefined): boolean {
    const challenges = parseChallenges(header);
    const digest = ALGORITHMS.flatMap((algorithm) => {
      const challenge = challenges.find((one) => isDigest(one, algorithm.name));
      return challenge === undefined ? [] : [{ kind: 'digest' as const, algorithm, challenge, count: 0 }];
    })[0];
    const stale = digest?.challenge.parameters.get('stale')?.toLowerCase() === 'true';
    if (digest !== undefined) {
      this.#answer = digest;
      return sent === undefined || stale || !sent.startsWith('Digest ');
    }
    if (sent !== undefined || !challenges.some(({ scheme }) => scheme === 'basic')) return false;
    if (!this.#isSafe() && !this.#credentials.inClear) {
      throw new TransportError(
        'device-unreachable',
        'it asks for the password itself (Basic). Use ipps: with "fingerprint256" or "ca" in its access entry, ' +
          'or allow it there with "inClear"',
      );
    }
    this.#answer = { kind: 'basic' };
    return true;
  }

  #digest(answer: Extract<Answer, { kind: 'digest' }>, { method, path }: Request): string {
    const { algorithm, challenge } = answer;
    const { user, password } = this.#credentials;
    const hash = (text: string) => createHash(algorithm.hash).update(text).digest('hex');
    const [realm = '', nonce = ''] = ['realm', 'nonce'].map((name) => challenge.parameters.get(name));
    answer.count += 1;
    const count = answer.count.toString(16).padStart(8, '0');
    const clientNonce = this.#clientNonce();
    const secret = hash(`${user}:${realm}:${password}`);
    const response = hash(`${secret}:${nonce}:${count}:${clientNonce}:auth:${hash(`${method}:${path}`)}`);
    const opaque = challenge.parameters.get('opaque');
    const parts = [
      `username=${quoted(user)}`,
      `realm=${quoted(realm)}`,
      `uri=${quoted(path)}`,
      `algorithm=${algorithm.name}`,
      `nonce=${quoted(nonce)}`,
      `nc=${count}`,
      `cnonce=${quoted(clientNonce)}`,
      'qop=auth',
      `response=${quoted(response)}`,
      ...(opaque === undefined ? [] : [`opaque=${quoted(opaque)}`]),
    ];
    return `Digest ${parts.join(', ')}`;
  }
}

/** Digest without `qop` is that of RFC 2069, which is obsolete, so it is not taken. `-sess` algorithms are not needed here. */
function isDigest({ scheme, parameters }: Challenge, algorithm: string): boolean {
  const said = parameters.get('algorithm') ?? 'MD5';
  const qop = (parameters.get('qop') ?? '').split(',').map((one) => one.trim().toLowerCase());
  return (
    scheme === 'digest' &&
    said.toUpperCase() === algorithm &&
    qop.includes('auth') &&
    parameters.has('realm') &&
    parameters.has('nonce')
  );
}

/** Leaves out whatever is not a challenge, and never throws. */
export function parseChallenges(header: string): Challenge[] {
  const challenges: { scheme: string; parameters: Map<string, string> }[] = [];
  // A scheme, or a parameter (quoted or not). A match begins only at a whole token, so this is linear.
  const part =
    /(?<![!#$%&'*+.^_`|~\w-])([!#$%&'*+.^_`|~\w-]+)(?![!#$%&'*+.^_`|~\w-])(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]*))|(?=\s|,|$))/g;
  for (const [, name = '', inQuotes, plain] of header.slice(0, LONGEST).matchAll(part)) {
    const value = inQuotes?.replace(/\\(.)/g, '$1') ?? plain;
    const key = name.toLowerCase();
    if (value === undefined) challenges.push({ scheme: key, parameters: new Map() });
    else if (challenges.length > 0) challenges.at(-1)?.parameters.set(key, value);
  }
  return challenges.slice(0, MOST_CHALLENGES);
}

/** A quoted string as Node's HTTP client wants it: the bytes of UTF-8, each as one character. */
function quoted(text: string): string {
  // A line break would begin another header.
  const safe = text.replace(/\p{Cc}/gu, '').replace(/["\\]/g, '\\$&');
  return `"${Buffer.from(safe, 'utf8').toString('latin1')}"`;
}
