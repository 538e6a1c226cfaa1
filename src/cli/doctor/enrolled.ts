/** Checks whether an agent at another site reaches the service with which it has enrolled, and what keeps it out. */
import { type Goodbye, goodbyeWords } from '../../contract/gateway.ts';
import { lookAtGateway } from '../../queue/index.ts';
import { explain } from '../explain.ts';
import { environmentOf } from '../update/supervisor.ts';
import { type Finding, failed, ok, warning } from './finding.ts';
import { LIMIT_MS } from './network.ts';
import type { Subject } from './subject.ts';

/** Days before the end of the service's certificate from which on a person is told. */
const SOON = 14;
const CHECK = 'service elsewhere';

/** Goes through the proxy of the agent that runs, and trusts what it trusts: both may have been given to it alone. */
export async function enrolled({ enrolment, status }: Subject): Promise<Finding[]> {
  if (enrolment === undefined) return [];
  const env = { ...process.env, ...(status === null ? {} : environmentOf(status.pid)) };
  try {
    const { validTo } = await lookAtGateway(enrolment, LIMIT_MS, env);
    const key = enrolment.pin === undefined ? '' : ', with the key of the invitation';
    if (validTo === null) return [ok(CHECK, `${enrolment.origin} answers`)];
    const until = `its certificate is valid until ${validTo.toISOString().slice(0, 10)}`;
    const words = `${enrolment.origin} answers${key}; ${until}`;
    if (validTo.getTime() - Date.now() > SOON * 24 * 3_600_000) return [ok(CHECK, words)];
    return [warning(CHECK, words, 'Tell who runs the service: after that day no agent connects.')];
  } catch (error) {
    return [failed(CHECK, explain(error), adviceOf(explain(error)))];
  }
}

/** What a person can do about it, by what Node, OpenSSL and proxies say. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/shows another key/, 'If the service has a new key, ask for another code and enrol again.'],
  [
    /certificate|self-signed|CERT_|altname/i,
    'Install the authority that has signed it on this machine, or name it with NODE_EXTRA_CA_CERTS; is the clock right?',
  ],
  [/407/, 'Set user and password of the proxy in HTTPS_PROXY, in the environment of the agent.'],
  [
    /to sign in/,
    'Sign in with a browser in that network, or have the address of the service let through without.',
  ],
  [/WebSocket/, 'Have what is on the way pass WebSockets on at /agent/v1/lanes.'],
  [/another version of the protocol/, 'Update the older of the two.'],
];
const UNREACHED =
  'Look at the name and at port 443, outbound; where only a proxy gets out, set HTTPS_PROXY in the environment of the agent.';

function adviceOf(reason: string): string {
  return ADVICE.find(([said]) => said.test(reason))?.[1] ?? UNREACHED;
}

const REMEDIES: Readonly<Record<Goodbye, string>> = {
  revoked: 'Ask for another code, and enrol again.',
  unknown: 'Was the service restored from a back-up that is older than the agent? Enrol it again.',
  'proof-wrong': 'Ask for another code, and enrol again.',
  stale: 'If this is the right one, have it let in: platen agent approve ID, at the service.',
  taken: 'Stop one of the two.',
  'too-old': 'Update the older of the two.',
  'frame-wrong': 'Update the older of the two.',
  'too-many': 'Set PLATEN_MAX_AGENTS at the service.',
  restart: 'Wait a minute.',
};

/** @param reason why the agent cannot report: it quotes what the service said last */
export function remedyOf(reason: string): string {
  const said = Object.entries(REMEDIES).find(([code]) => reason.endsWith(goodbyeWords(code)));
  return said?.[1] ?? 'See "service elsewhere" or "lanes" above.';
}
