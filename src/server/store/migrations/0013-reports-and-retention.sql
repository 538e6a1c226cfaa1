-- Applies reports of jobs, in their order, each as if it were alone, and says of each whether its agent has the job's printer
-- (null: there is no such job) and whether it was applied. `before`: the states from which it may change the job's;
-- `late`: those in which it counts although it is old; `changed`: those in which an agent's word counts at all.
create function platen.apply_job_reports(reports json, changed text[]) returns json
language plpgsql as $$
declare
  report record;
  has boolean;
  results json[] := array_fill(null::json, array[json_array_length(reports)]);
begin
  for report in
    select r.* from json_to_recordset(reports) as r(n integer, job uuid, agent text, printer text, round integer,
      delivery integer, seq integer, status text, before text[], late text[], sent integer, printed integer, reasons text[],
      error json, "from" integer, "to" integer)
    -- By job, so that two services that have reports of the same jobs in hand lock them in one order.
    order by r.job, r.n
  loop
    -- Whether the agent has, or had, the printer in the scope of its lane. Of an earlier round it does not matter: the job
    -- may have been elsewhere then.
    select j.round <> report.round or (j.printer_id = report.printer and exists (
        select from platen.agents a join platen.agent_printers p on p.agent_id = a.id
        where a.id = report.agent and p.printer_id = j.printer_id and a.tenant_id is not distinct from j.scope))
      into has from platen.jobs j where j.id = report.job;
    -- What the printer has counted stays so: an agent that cannot read a job, or does not know what another one did of it,
    -- says less.
    update platen.jobs j set sent = greatest(report.sent, j.printed), printed = greatest(report.printed, j.printed),
        reasons = report.reasons, error = report.error,
        uncertain_from = case when report."from" is null then null else greatest(report."from", j.printed) end,
        uncertain_to = least(report."to", j.records * j.copies), agent_id = report.agent, delivery = report.delivery,
        report_seq = report.seq, updated_at = now(),
        status = case when j.status = any(report.before) then report.status else j.status end,
        dispatched_at = coalesce(j.dispatched_at, now())
      where has and j.id = report.job and j.round = report.round and j.status = any(changed)
        and ((j.delivery, j.report_seq) < (report.delivery, report.seq) or j.status = any(report.late));
    results[report.n + 1] := json_build_object('has', has, 'applied', found);
  end loop;
  return array_to_json(results);
end
$$;

-- What people call a printer counts as its name for those who ask for it.
create or replace function platen.route_stamp(tenant text, printer text, printer_name text) returns text
language sql stable as $$
  select hashtextextended(coalesce(string_agg(concat_ws(E'\x1f', a.id, coalesce(a.tenant_id, ''), p.printer_id, p.name,
    coalesce(s.display_name, ''), p.formats::text, p.gone_at is null), E'\x1e' order by p.agent_id, p.printer_id), ''), 0)::text
  from platen.agent_printers p join platen.agents a on a.id = p.agent_id
  left join platen.lane_settings s on s.lane = coalesce(a.tenant_id || '/', '') || p.printer_id
  where (a.tenant_id is null or a.tenant_id = tenant)
    and p.printer_id in (select printer
      union all select n.printer_id from platen.agent_printers n where n.name = printer_name
      union all select substring(l.lane from '[^/]*$') from platen.lane_settings l where l.display_name = printer_name)
$$;

-- Old jobs are looked for by age, a few pages at a time: rows come in the order of their acceptance.
create index jobs_age on platen.jobs using brin (created_at);
