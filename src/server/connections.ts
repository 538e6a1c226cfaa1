/**
 * Bounds the number of connections without letting anybody shut others out: at the bound, the connection that
 * has been idle or slow for longest is closed for the new one. A request that has come in whole, and is being
 * worked on, keeps its connection, unless its answer is a stream, which may go on for hours. A connection that
 * brings many requests before it has the answers is closed.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** ms for a reader to take an answer; then its connection is closed. */
const ANSWER_TIMEOUT = 60_000;

/**
 * Requests of one connection that may be under way. Hardly any client sends the next one before it has the
 * answer; a stranger could send hundreds of thousands in a few MB, of which each takes some KB here.
 */
const MOST_AT_ONCE = 4;

/**
 * Keeps the server at `most` connections, and takes over its listeners for requests.
 * @returns a function to call when work on a request without a body begins: nobody reads it to its end
 */
export function boundConnections(server: Server, most: number): (request: IncomingMessage) => void {
  /** Idle or slow connections, the longest idle first: a set keeps the order in which members came. */
  const idle = new Set<Socket>();
  const working = new Set<Socket>();

  server.on('connection', (socket: Socket) => {
    if (idle.size + working.size >= most) {
      const [oldest] = idle;
      // Requests are being worked on for all connections: there is no room for the new one.
      if (oldest === undefined) {
        socket.destroy();
        return;
      }
      idle.delete(oldest);
      oldest.destroy();
    }
    idle.add(socket);
    socket.once('close', () => {
      idle.delete(socket);
      working.delete(socket);
    });
  });

  const underWay = new WeakMap<Socket, number>();
  const works = new WeakMap<IncomingMessage, () => void>();
  const serve = server.listeners('request');
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    if (socket.destroyed) return;
    const atOnce = (underWay.get(socket) ?? 0) + 1;
    if (atOnce > MOST_AT_ONCE) {
      readNoFurther(socket);
      socket.destroy();
      return;
    }
    underWay.set(socket, atOnce);
    response.once('close', () => underWay.set(socket, (underWay.get(socket) ?? 1) - 1));
    const rest = () => {
      if (socket.destroyed) return;
      working.delete(socket);
      idle.delete(socket);
      idle.add(socket);
    };
    rest();
    const work = () => {
      if (socket.destroyed || response.writableEnded) return;
      idle.delete(socket);
      working.add(socket);
    };
    request.once('end', work);
    works.set(request, work);
    response.once('pipe', rest);
    // The answer is complete: from here on only a slow reader can keep the connection.
    response.once('prefinish', () => {
      rest();
      const timer = setTimeout(() => socket.destroy(), ANSWER_TIMEOUT);
      response.once('close', () => clearTimeout(timer));
    });
    for (const listener of serve) Reflect.apply(listener, server, [request, response]);
  });
  return (request) => works.get(request)?.();
}

/**
 * Node would make a request of each one that came in together with the one that was too many: 1,900 fit into one
 * read, which take 25 ms. A parser that is told 2 for the headers of a request reads nothing behind them, as for
 * an upgrade; its `onIncoming` is Node's own, and set anew for the next connection.
 */
function readNoFurther(socket: Socket): void {
  const parser: unknown = Reflect.get(socket, 'parser');
  if (typeof parser === 'object' && parser !== null && 'onIncoming' in parser) parser.onIncoming = () => 2;
}
