/** Tries to reach a service's gateway as an agent at another site does: through its proxy, trusting whom it trusts. */
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { WebSocket } from 'ws';
import { FRAME_BYTES, GATEWAY_PATH, PROTOCOL } from '../../contract/gateway.ts';
import { QueueError } from '../queue-error.ts';
import { whyNotReached } from './not-reached.ts';
import { type WebAgentOptions, webAgent } from './web-agent.ts';

interface GatewayLook {
  /** When the service's certificate expires; null: it has none, which is allowed only on this machine. */
  validTo: Date | null;
}

/**
 * Opens the connection and sends nothing.
 * @param env the agent's environment, if the agent is another process
 * @throws QueueError `unavailable`; `refused` for plain HTTP to another machine
 */
export async function lookAtGateway(
  { origin, ...reach }: WebAgentOptions & { origin: string },
  limitMs: number,
  env: NodeJS.ProcessEnv = process.env,
): Promise<GatewayLook> {
  const socket = new WebSocket(new URL(GATEWAY_PATH, origin.replace(/^http/, 'ws')), PROTOCOL, {
    agent: webAgent(origin, reach, env),
    perMessageDeflate: false,
    maxPayload: FRAME_BYTES.unproven,
    handshakeTimeout: limitMs,
  });
  const opened = Promise.withResolvers<GatewayLook>();
  // The handshake's own limit does not cover what comes before it: looking up the name, going through a proxy.
  const late = setTimeout(() => opened.reject(new Error(`no answer within ${limitMs} ms`)), limitMs);
  let validTo: Date | null = null;
  socket.on('upgrade', ({ socket: below }: IncomingMessage) => {
    if (below instanceof TLSSocket) validTo = new Date(below.getPeerCertificate().valid_to);
  });
  socket.on('open', () => opened.resolve({ validTo }));
  socket.on('error', opened.reject);
  try {
    return await opened.promise;
  } catch (error) {
    throw new QueueError('unavailable', `${origin} is not reached: ${whyNotReached(error)}`);
  } finally {
    clearTimeout(late);
    socket.terminate();
  }
}
