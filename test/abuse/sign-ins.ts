/** An OpenID provider that is silent, or hostile, while strangers begin to sign in by the hundred. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { CONSOLE_HEADER } from '../../src/contract/people.ts';
import { type Attack, honestly, loops, only } from './callers.ts';

const PAGE = { [CONSOLE_HEADER]: '1', 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
const JSON_HEAD = { 'content-type': 'application/json' };

const BOMB = gzipSync(Buffer.alloc(128 * 1024 * 1024, ' '));
const DEEP = `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;

const WAYS = {
  silent: () => undefined,
  endless: (response: ServerResponse) => {
    response.writeHead(200, JSON_HEAD);
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, ' ')));
    };
    response.on('drain', more);
    more();
  },
  packed: (response: ServerResponse) => {
    response.writeHead(200, { ...JSON_HEAD, 'content-encoding': 'gzip' }).end(BOMB);
  },
  deep: (response: ServerResponse) => {
    response.writeHead(200, JSON_HEAD).end(DEEP);
  },
} satisfies Record<string, (response: ServerResponse) => void>;

export class HostileProvider {
  way: keyof typeof WAYS = 'silent';
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  static async start(): Promise<HostileProvider> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = z.object({ port: z.number() }).parse(server.address());
    const provider = new HostileProvider(server, `http://127.0.0.1:${port}`);
    server.on('request', (request, response) => {
      request.resume();
      WAYS[provider.way](response);
    });
    return provider;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

function signIns(way: keyof typeof WAYS, callers: number): Attack {
  return {
    name: `sign-ins by a provider that is ${way}`,
    run: async (target, { seconds, share, patience }) => {
      target.provider.way = way;
      const flood = loops(callers * share, seconds, (agent) =>
        target.send({ path: '/app/session/provider', headers: PAGE, body: '{}', agent }),
      );
      const wrong = await honestly(target, flood, patience);
      return [...wrong, ...only(await flood, 503)];
    },
  };
}

export const BY_PROVIDER: readonly Attack[] = [
  signIns('silent', 500),
  signIns('endless', 50),
  signIns('packed', 50),
  signIns('deep', 50),
];
