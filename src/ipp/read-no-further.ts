import type { Socket } from 'node:net';

/**
 * Node would make a request of each one that came in together with the one that was too many: 1,900 fit into one
 * read, which take 25 ms. A parser that is told 2 for the headers of a request reads nothing behind them, as for
 * an upgrade; its `onIncoming` is Node's own, and set anew for the next connection.
 */
export function readNoFurther(socket: Socket): void {
  const parser: unknown = Reflect.get(socket, 'parser');
  if (typeof parser === 'object' && parser !== null && 'onIncoming' in parser) parser.onIncoming = () => 2;
}
