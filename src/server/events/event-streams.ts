/**
 * `GET /app/events`: server-sent events (WHATWG HTML §9.2) that say what has changed. A page then asks again for what it shows.
 * The heartbeat `here` tells the page that the connection works. The number of streams is bounded for each tenant and person. A
 * stream ends when its session or the service ends, and is cut if its reader does not read. After a cut, the page connects
 * again and asks for everything.
 */
import { PassThrough } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ServerConfig } from '../config.ts';
import type { Sessions } from '../people/sessions.ts';
import { type Access, accessOf, mayDo } from '../people/visitor.ts';
import { ProblemError } from '../problems.ts';
import type { ChangeFeed, News } from './change-feed.ts';

/** Bytes that may wait for a reader before its stream is cut. */
const MOST_WAITING = 64 * 1024;
/** A stream ends at most this many s after its session has ended. */
const MOST_OVER = 5;
/** ms that a browser waits before it connects again. */
const RETRY = 2_000;

type Parts = { feed: ChangeFeed; sessions: Sessions; config: ServerConfig['events'] };
type Stream = { access: Access; write: (text: string) => void; end: () => void };

export async function eventRoutes(app: FastifyInstance, { feed, sessions, config }: Parts): Promise<void> {
  const streams = new Set<Stream>();
  const here = `event: here\ndata: ${config.heartbeat}\n\n`;
  let timers: NodeJS.Timeout[] = [];
  const beatAll = () => {
    for (const { write } of streams) write(here);
  };
  /** Makes one query for the sessions of all streams, however many pages are open. */
  const lookAtAll = () => {
    endThoseOver(streams, sessions).catch(() => {
      for (const { end } of [...streams]) end();
    });
  };
  // When the service stops, Fastify waits for requests under way. The streams would never end by themselves.
  app.addHook('preClose', async () => {
    for (const stream of [...streams]) stream.end();
  });

  app.get(
    '/app/events',
    { config: { needs: 'jobs:read', about: 'query' } },
    async (request: FastifyRequest, reply: FastifyReply) => {
      const access = accessOf(request);
      makeRoom(streams, access, config);
      const out = new PassThrough();
      const write = (text: string) => {
        if (reply.raw.writableLength + out.readableLength > MOST_WAITING) out.destroy();
        else if (!out.writableEnded && !out.destroyed) out.write(text);
      };
      const stream: Stream = { access, write, end: () => out.end() };
      const deaf = feed.listen({
        tenant: access.tenant,
        everywhere: mayDo(access.visitor, 'deployment'),
        hear: (news) => write(textOf(news)),
      });
      streams.add(stream);
      if (timers.length === 0)
        timers = [
          setInterval(beatAll, config.heartbeat * 1_000),
          setInterval(lookAtAll, Math.min(config.heartbeat, MOST_OVER) * 1_000),
        ];
      out.once('close', () => {
        deaf();
        streams.delete(stream);
        if (streams.size > 0) return;
        for (const timer of timers.splice(0)) clearInterval(timer);
      });
      reply.raw.once('close', () => out.destroy());
      write(`retry: ${RETRY}\n${here}${textOf('all')}`);
      // Without `x-accel-buffering: no`, a proxy that buffers answers would hold the events back.
      return reply.type('text/event-stream').header('x-accel-buffering', 'no').send(out);
    },
  );
}

/** @throws ProblemError `too-many-streams` */
function makeRoom(streams: ReadonlySet<Stream>, { tenant, visitor }: Access, config: Parts['config']): void {
  const all = [...streams];
  const ofTenant = all.filter(({ access }) => access.tenant === tenant).length;
  const ofPerson = all.filter(
    ({ access }) =>
      visitor.kind === 'person' && access.visitor.kind === 'person' && access.visitor.id === visitor.id,
  ).length;
  if (ofTenant < config.perTenant && ofPerson < config.perPerson) return;
  throw new ProblemError('too-many-streams', 'close other windows of the console');
}

/** Ends streams whose session has ended, or whose person has another role or tenant by now. */
async function endThoseOver(streams: ReadonlySet<Stream>, sessions: Sessions): Promise<void> {
  const asked = [...streams].flatMap(({ access: { visitor, tenant }, end }) =>
    visitor.kind === 'person' ? [{ visitor, tenant, end }] : [],
  );
  const lasting = await sessions.lasting([...new Set(asked.map(({ visitor }) => visitor.sessionId))]);
  for (const { visitor, tenant, end } of asked) {
    const now = lasting.get(visitor.sessionId);
    if (now?.tenant_id !== tenant || now?.role !== visitor.role) end();
  }
}

function textOf(news: News): string {
  return news === 'all' ? 'event: resync\ndata: {}\n\n' : `event: changed\ndata: ${JSON.stringify(news)}\n\n`;
}
