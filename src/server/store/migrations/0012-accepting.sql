-- Accepting jobs in one statement. What a request refers to is kept by the instances; the stamps tell, inside that
-- statement, whether what was kept is still what is stored.

-- Stands for all that the choice of a printer depends on: what agents that the tenant can see say of the printer with
-- this ID and of those with this name. Whether an agent is heard of is left out: that changes with time alone.
create function platen.route_stamp(tenant text, printer text, printer_name text) returns text
language sql stable as $$
  select hashtextextended(coalesce(string_agg(concat_ws(E'\x1f', a.id, coalesce(a.tenant_id, ''), p.printer_id, p.name,
    p.formats::text, p.gone_at is null), E'\x1e' order by p.agent_id, p.printer_id), ''), 0)::text
  from platen.agent_printers p join platen.agents a on a.id = p.agent_id
  where (a.tenant_id is null or a.tenant_id = tenant)
    and p.printer_id in (select printer union all select n.printer_id from platen.agent_printers n where n.name = printer_name)
$$;

-- Accepts jobs of one tenant, each for itself, and says in their order what became of each:
--   accepted      key, quota and job are written
--   replayed      the key was used for the same request: its answer
--   reused        the key was used for another request
--   quota         the month's quota does not suffice: `labels` are allowed, `used` are used
--   stale         template, printer or tenant have changed since they were looked up
--   revoked       the service account was revoked
--   tenant-gone   there is no such tenant
-- Locks are taken in one order (the tenant, keys by their name, the month's labels), so that instances that accept at
-- once wait for each other in one direction only.
create function platen.accept_jobs(tenant text, asked json, payloads text[], keys_kept interval) returns json
language plpgsql as $$
declare
  quota bigint;
  printer_commands boolean;
  job record;
  before record;
  outcomes json[];
  accepted boolean[] := array_fill(false, array[json_array_length(asked)]);
  this_month date := date_trunc('month', now() at time zone 'UTC')::date;
  -- Jobs of a tenant without a limit do not wait for each other: their labels are counted in several rows.
  counted_in smallint := 0;
  wanted bigint := 0;
  taken bigint := 0;
  used bigint;
begin
  outcomes := array_fill(null::json, array[json_array_length(asked)]);
  select t.quota_labels, t.printer_commands into quota, printer_commands
    from platen.tenants t where t.id = tenant for key share;
  if not found then
    return (select json_agg(json_build_object('outcome', 'tenant-gone')) from json_array_elements(asked));
  end if;
  if quota is null then counted_in := floor(random() * 16); end if;

  for job in
    select r.* from json_to_recordset(asked) as r(n integer, id uuid, "apiKey" text, key text, "bodyHash" text, answer json,
      labels bigint, "printerCommands" boolean, template text, "templateStamp" text, "printerId" text, "printerName" text,
      "routeStamp" text)
    order by r.key, r.n
  loop
    if job."apiKey" is not null and not exists (select from platen.integrations i
        where i.api_key = job."apiKey" and i.tenant_id = tenant and i.revoked_at is null) then
      outcomes[job.n] := json_build_object('outcome', 'revoked');
    elsif job."templateStamp" is not null and (job."printerCommands" <> printer_commands
        or not exists (select from platen.templates t
          where t.tenant_id = tenant and t.id = job.template and t.xmin::text = job."templateStamp")
        or platen.route_stamp(tenant, job."printerId", job."printerName") <> job."routeStamp") then
      outcomes[job.n] := json_build_object('outcome', 'stale');
    else
      if job.key is not null then
        -- Waits for whoever is about to take the same key.
        insert into platen.idempotency_keys as k (tenant_id, key, body_hash, job_id, response)
          values (tenant, job.key, decode(job."bodyHash", 'hex'), job.id, job.answer)
          on conflict (tenant_id, key) do update set body_hash = excluded.body_hash, job_id = excluded.job_id,
            response = excluded.response, created_at = now()
          where k.created_at <= now() - keys_kept;
        if not found then
          select k.body_hash = decode(job."bodyHash", 'hex') as same, k.job_id, k.response into before
            from platen.idempotency_keys k where k.tenant_id = tenant and k.key = job.key;
          -- Not there: it was deleted just now, at the end of its time.
          outcomes[job.n] := case when before.same is null then json_build_object('outcome', 'stale')
            when not before.same then json_build_object('outcome', 'reused')
            else json_build_object('outcome', 'replayed', 'jobId', before.job_id, 'answer', before.response) end;
          continue;
        end if;
      end if;
      accepted[job.n] := true;
      wanted := wanted + job.labels;
    end if;
  end loop;

  if wanted > 0 then
    insert into platen.usage as u (tenant_id, month, shard, labels) values (tenant, this_month, counted_in, wanted)
      on conflict (tenant_id, month, shard) do update set labels = u.labels + excluded.labels;
    if quota is not null then
      -- Under the lock of that row this sees all that others have taken, and our own.
      select sum(u.labels) - wanted into used from platen.usage u where u.tenant_id = tenant and u.month = this_month;
      for job in
        select r.* from json_to_recordset(asked) as r(n integer, id uuid, key text, labels bigint)
        where accepted[r.n] order by r.n
      loop
        if used + taken + job.labels <= quota then
          taken := taken + job.labels;
        else
          accepted[job.n] := false;
          outcomes[job.n] := json_build_object('outcome', 'quota', 'labels', quota, 'used', used + taken);
          delete from platen.idempotency_keys k where k.tenant_id = tenant and k.key = job.key and k.job_id = job.id;
        end if;
      end loop;
      if taken < wanted then
        update platen.usage u set labels = u.labels - (wanted - taken)
          where u.tenant_id = tenant and u.month = this_month and u.shard = counted_in;
      end if;
    end if;
  end if;

  insert into platen.jobs (id, tenant_id, account, template_id, template_name, printer_id, printer_name,
      requested_printer, format, orientation, copies, records, payload, created_at, scope)
    select r.id, tenant, r.account, r.template, r."templateName", r.printer, r."calledPrinter", r."askedPrinter", r.format,
      r.orientation, r.copies, r.records, payloads[r.n]::json, r."createdAt", r.scope
    from json_to_recordset(asked) as r(n integer, id uuid, account text, template text, "templateName" text, printer text,
      "calledPrinter" text, "askedPrinter" text, format text, orientation text, copies integer, records integer,
      "createdAt" timestamptz, scope text)
    where accepted[r.n] order by r.n;
  return (select json_agg(coalesce(o.outcome, json_build_object('outcome', 'accepted')) order by o.n)
    from unnest(outcomes) with ordinality as o(outcome, n));
end
$$;
