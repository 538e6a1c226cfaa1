/** The internal interface's routes for printers: what is shown of them, and what a person does to them. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { DeedWord } from '../../contract/deeds.ts';
import { MOST_AT_ONCE } from '../../contract/job-actions.ts';
import type { Lane } from '../../contract/lane.ts';
import { printSettings } from '../../contract/print-settings.ts';
import {
  printerAbout,
  printerClear,
  printerFilter,
  printerGrant,
  printerHide,
  printerHold,
  printerOffer,
  printerRename,
  printerTarget,
  printerTest,
  VIRTUAL_FAULTS,
  virtualFaults,
} from '../../contract/printer-actions.ts';
import { type PrinterView, type printerCounts, standsStill } from '../../contract/printer-view.ts';
import { because } from '../../contract/reason.ts';
import { idParam } from '../id-param.ts';
import { baseOf, setOffered, withOffers } from '../ipp/offers.ts';
import { parseKey } from '../jobs/accept/idempotency.ts';
import type { TestPrints } from '../jobs/accept/test-prints.ts';
import type { JobQueue } from '../jobs/dispatch/queue-port.ts';
import { bulk } from '../jobs/outcome/bulk.ts';
import type { Cancellations } from '../jobs/outcome/cancellations.ts';
import type { JobDecisions } from '../jobs/outcome/decisions.ts';
import type { JobMoves } from '../jobs/outcome/moves.ts';
import type { Withdrawals } from '../jobs/outcome/withdrawals.ts';
import type { JobList } from '../jobs/shown/job-list.ts';
import { writeDeed } from '../people/access.ts';
import type { Deed } from '../people/audit.ts';
import { accessOf, accountOf, demand, mayDo } from '../people/visitor.ts';
import { demandAdmitted } from '../printers/format-settings.ts';
import { setGrants } from '../printers/grants.ts';
import type { LaneHolds } from '../printers/lane-holds.ts';
import { laneMeant, withLanes } from '../printers/one-printer.ts';
import { holdersIn, LONG_AWAY, listPrinters, type SeenBy } from '../printers/printers.ts';
import { type OwnVirtuals, type VirtualPort, virtualOf } from '../printers/virtual-printers.ts';
import { ProblemError, parseBody, refusedBecause } from '../problems.ts';
import { type Pool, type Queryable, transaction } from '../store/pool.ts';

type PrinterParts = {
  pool: Pool;
  queue: Pick<JobQueue, 'leaseHolders'>;
  list: JobList;
  holds: LaneHolds;
  tests: TestPrints;
  cancellations: Cancellations;
  decisions: JobDecisions;
  moves: JobMoves;
  withdrawals: Withdrawals;
  virtual: () => OwnVirtuals | undefined;
  /** The service offers printers by IPP. */
  ipp: boolean;
  publicUrl: () => string;
};

const numberParam = z.object({ number: z.coerce.number().int() });

/** A person who may do what concerns all tenants sees all shared printers, also those that are not granted to their own. */
function seenBy(request: FastifyRequest): SeenBy {
  const { visitor, tenant } = accessOf(request);
  return tenant === undefined
    ? undefined
    : { tenant, shared: visitor.kind === 'person' && mayDo(visitor, 'deployment') };
}

export async function printerRoutes(app: FastifyInstance, parts: PrinterParts): Promise<void> {
  const { pool, list, holds } = parts;
  const act = (audit: DeedWord) => ({ config: { needs: 'printers:act', about: 'caller', audit } }) as const;

  /**
   * @param all the request concerns every tenant of a shared printer, so it needs `deployment` there
   * @throws ProblemError `printer-not-found`, `printer-ambiguous`, `permission-missing`
   */
  const theLane = async (request: FastifyRequest, all = true): Promise<Lane> => {
    const { visitor } = accessOf(request);
    const { scope } = parseBody(printerTarget, request.query);
    const meant = await laneMeant(pool, idParam.parse(request.params).id, scope, seenBy(request));
    if (all && meant.scope === null && visitor.kind === 'person') demand(visitor, 'deployment');
    return meant.lane;
  };
  const seen = async (
    request: FastifyRequest,
    which: 'present' | 'gone' | { lane: Lane },
  ): Promise<PrinterView[]> => {
    const { visitor, tenant } = accessOf(request);
    const printers = await listPrinters(pool, seenBy(request), holdersIn(parts.queue, request.log), which);
    const known = await withLanes(
      pool,
      printers,
      { tenant, grants: mayDo(visitor, 'deployment') },
      (one) => virtualOf(one, parts.virtual()) !== undefined,
    );
    return parts.ipp ? await withOffers(pool, known, baseOf(request, parts.publicUrl())) : known;
  };
  const answer = async (request: FastifyRequest, lane: Lane) => {
    const [printer] = await seen(request, { lane });
    if (printer === undefined)
      throw new ProblemError('printer-not-found', 'no agent has told of such a printer');
    return printer;
  };

  app.get('/app/printers', { config: { needs: 'jobs:read', about: 'query' } }, (request) =>
    seen(request, parseBody(printerFilter, request.query).gone === undefined ? 'present' : 'gone'),
  );
  app.get(
    '/app/printers/counts',
    { config: { needs: 'jobs:read', about: 'query' } },
    async (request): Promise<z.infer<typeof printerCounts>> => {
      const all = await listPrinters(pool, seenBy(request), holdersIn(parts.queue, request.log));
      return { standing: all.filter((one) => !one.hidden && standsStill(one)).length };
    },
  );
  app.get('/app/printers/:id', { config: { needs: 'jobs:read', about: 'caller' } }, async (request) =>
    answer(request, await theLane(request, false)),
  );

  app.post('/app/printers/:id/hold', act('printer.hold'), async (request) => {
    const { why } = parseBody(printerHold, request.body ?? {});
    const lane = await theLane(request);
    await holds.hold(lane, { who: accountOf(accessOf(request)), why }, (db) => writeDeed(db, request));
    return answer(request, lane);
  });
  app.post('/app/printers/:id/resume', act('printer.resume'), async (request) => {
    const lane = await theLane(request);
    await holds.resume(lane, (db) => writeDeed(db, request));
    return answer(request, lane);
  });

  app.post('/app/printers/:id/clear', act('printer.clear'), async (request) => {
    const { dryRun, printing, why } = parseBody(printerClear, request.body ?? {});
    const { tenant } = accessOf(request);
    // Of a shared printer's jobs only those of the caller's tenant are canceled.
    const lane = await theLane(request, false);
    const jobs = await list.waitingIn(lane, tenant, { printing, most: MOST_AT_ONCE + 1 });
    const by = {
      ...{ who: accountOf(accessOf(request)), why },
      noted: (db: Queryable, job: string) => writeDeed(db, request, { details: { job } }),
    };
    const result = await bulk(parts, { action: 'cancel' }, jobs, dryRun, by);
    request.changed = { jobs: dryRun ? [] : result.jobs.map(({ id }) => id) };
    // Each job's entry was written with its change; a preview changes nothing.
    request.deed.written = true;
    return result;
  });

  const change = async (
    request: FastifyRequest,
    lane: Lane,
    make: (client: Queryable) => Promise<unknown>,
    deed?: Deed,
  ) => {
    await transaction(pool, async (client) => {
      await make(client);
      await writeDeed(client, request, deed);
    });
    return answer(request, lane);
  };

  app.put('/app/printers/:id/name', act('printer.rename'), async (request) => {
    const { name } = parseBody(printerRename, request.body);
    const lane = await theLane(request);
    return change(request, lane, (client) => setIn(client, lane, { display_name: name }));
  });

  app.put('/app/printers/:id/about', act('printer.describe'), async (request) => {
    const { place, group, note } = parseBody(printerAbout, request.body);
    const lane = await theLane(request);
    const said = { place: place || null, group_name: group || null, note: note || null };
    return change(request, lane, (client) => setIn(client, lane, said), { details: { place, group } });
  });

  app.put('/app/printers/:id/settings', act('printer.set'), async (request) => {
    const settings = parseBody(printSettings, request.body);
    const lane = await theLane(request);
    demandAdmitted((await answer(request, lane)).formats, settings);
    const kept = { print_settings: JSON.stringify(settings) };
    const details = z.record(z.string(), z.union([z.string(), z.number()])).parse(settings);
    return change(request, lane, (client) => setIn(client, lane, kept), { details });
  });

  const hides = (hidden: boolean) => async (request: FastifyRequest) => {
    parseBody(printerHide, request.body ?? {});
    const lane = await theLane(request);
    return change(request, lane, (client) => setIn(client, lane, { hidden }));
  };
  app.post('/app/printers/:id/hide', act('printer.hide'), hides(true));
  app.post('/app/printers/:id/show', act('printer.show'), hides(false));

  const offers = (offered: boolean) => async (request: FastifyRequest) => {
    parseBody(printerOffer, request.body ?? {});
    if (offered && !parts.ipp) throw new ProblemError('ipp-off', 'PLATEN_IPP=true turns it on');
    const lane = await theLane(request);
    return change(request, lane, (client) => setOffered(client, lane, offered));
  };
  app.post('/app/printers/:id/offer', act('printer.offer'), offers(true));
  app.post('/app/printers/:id/withdraw', act('printer.withdraw'), offers(false));

  app.put(
    '/app/printers/:id/grants',
    { config: { needs: 'deployment', about: 'caller', audit: 'printer.grant' } },
    async (request) => {
      const { tenants } = parseBody(printerGrant, request.body);
      const { id } = idParam.parse(request.params);
      const { lane } = await laneMeant(pool, id, 'shared', undefined);
      await transaction(pool, async (client) => {
        await setGrants(client, lane, tenants);
        await writeDeed(client, request, { details: { tenants: tenants ?? '*' } });
      });
      await parts.withdrawals.sweep().catch((error: unknown) => {
        request.log.warn({ err: error }, 'jobs that wait at a printer without a grant are held later');
      });
      return answer(request, lane);
    },
  );

  app.delete('/app/printers/:id', act('printer.forget'), async (request, reply) => {
    const lane = await theLane(request);
    await transaction(pool, async (client) => {
      const ofLane = `agent_printers p USING platen.agents a WHERE a.id = p.agent_id
        AND coalesce(a.tenant_id || '/', '') || p.printer_id = $1`;
      const { rowCount } = await client.query(
        `DELETE FROM platen.${ofLane} AND (p.gone_at IS NOT NULL OR ${LONG_AWAY})`,
        [lane],
      );
      const { rows } = await client.query(
        `SELECT FROM platen.agent_printers p JOIN platen.agents a ON a.id = p.agent_id
         WHERE coalesce(a.tenant_id || '/', '') || p.printer_id = $1`,
        [lane],
      );
      if (rows.length > 0 || rowCount === 0) {
        throw refusedBecause('printer-in-use', because('printer-agents', {}));
      }
      // The row itself stays: it has the mark of the hold, which `resume` below takes away.
      await client.query(
        `UPDATE platen.lane_settings SET display_name = NULL, hidden = false, print_settings = DEFAULT,
           place = NULL, group_name = NULL, note = NULL, ipp_uuid = NULL, offered_at = NULL WHERE lane = $1`,
        [lane],
      );
      await writeDeed(client, request);
    });
    await holds.resume(lane);
    return reply.code(204).send();
  });

  /** A shared printer needs the permission `deployment`, because its labels are of all tenants. */
  const theVirtual = async (request: FastifyRequest): Promise<VirtualPort> => {
    const [printer] = await seen(request, { lane: await theLane(request) });
    const virtual = printer && virtualOf(printer, parts.virtual());
    if (virtual !== undefined) return virtual;
    throw new ProblemError('printer-not-found', 'this installation runs no such virtual printer');
  };
  const look = { config: { needs: 'labels:read', about: 'caller' } } as const;
  app.get('/app/printers/:id/virtual', look, async (request) => (await theVirtual(request)).state());
  app.put('/app/printers/:id/virtual', act('printer.fault'), async (request) => {
    const { faults } = parseBody(virtualFaults, request.body);
    const virtual = await theVirtual(request);
    // One after the other, the power last: when it comes back, the paper is already as it is to be.
    for (const word of VIRTUAL_FAULTS) await virtual.ask([faults.includes(word) ? word : `clear=${word}`]);
    request.deed.details = { faults };
    return virtual.state();
  });
  app.get('/app/printers/:id/virtual/:number(^\\d{1,9}).png', look, async (request, reply) => {
    const { number } = numberParam.parse(request.params);
    const png = await (await theVirtual(request)).picture(number);
    if (png === undefined) throw new ProblemError('not-found', `label ${number} is not there`);
    return reply.type('image/png').header('cache-control', 'private, max-age=3600').send(Buffer.from(png));
  });

  app.post('/app/printers/:id/test', act('printer.test'), async (request, reply) => {
    const { tenant, format } = parseBody(printerTest, request.body);
    const access = accessOf(request);
    if (access.tenant !== undefined && access.tenant !== tenant) {
      throw new ProblemError('tenant-forbidden', `you have no access to tenant "${tenant}"`);
    }
    const header = request.headers['idempotency-key'];
    const key = header === undefined ? undefined : parseKey(header);
    const { id } = idParam.parse(request.params);
    const made = await parts.tests.print(tenant, id, {
      format,
      account: accountOf(access),
      key,
      also: (db, job) => writeDeed(db, request, { details: { job } }),
    });
    request.facts.jobs = [made.id];
    // The entry in the audit was written with the new job, or, for a replay, with the first request.
    request.deed.written = true;
    return reply.code(201).send(made);
  });
}

/** @param settings by their columns, which our own code names */
async function setIn(db: Queryable, lane: Lane, settings: Readonly<Record<string, unknown>>): Promise<void> {
  const columns = Object.keys(settings);
  await db.query(
    `INSERT INTO platen.lane_settings (lane, ${columns.join(', ')})
     VALUES ($1, ${columns.map((_, at) => `$${at + 2}`).join(', ')})
     ON CONFLICT (lane) DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    [lane, ...Object.values(settings)],
  );
}
