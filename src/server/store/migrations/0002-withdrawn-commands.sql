-- Since when the tenant may not send printer commands any more, as long as jobs may wait that were accepted before.
alter table platen.tenants add column commands_withdrawn_at timestamptz;

-- A job with printer commands is accepted only where its tenant may send them now: also a job that is printed again, and one
-- for which everything was looked up just before.
create or replace function platen.accept_jobs(tenant text, asked json, payloads text[], keys_kept interval, in_lanes boolean)
returns json
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
  ids text[];
  of_lanes text[];
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
    elsif (job."printerCommands" and not printer_commands) or job."templateStamp" is not null and (job."printerCommands" <> printer_commands
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

  with added as (
    insert into platen.jobs (id, tenant_id, account, template_id, template_name, printer_id, printer_name,
        requested_printer, format, orientation, copies, records, payload, created_at, scope, dispatched_at, template_hash)
      select r.id, tenant, r.account, r.template, r."templateName", r.printer, r."calledPrinter", r."askedPrinter", r.format,
        r.orientation, r.copies, r.records, payloads[r.n]::json, r."createdAt", r.scope, case when in_lanes then now() end,
        decode(r."templateHash", 'hex')
      from json_to_recordset(asked) as r(n integer, id uuid, account text, template text, "templateName" text, printer text,
        "calledPrinter" text, "askedPrinter" text, format text, orientation text, copies integer, records integer,
        "createdAt" timestamptz, scope text, "templateHash" text)
      where accepted[r.n] order by r.n
    returning platen.jobs.id, platen.jobs.lane, platen.jobs.seq
  )
  select array_agg(added.id::text order by added.seq), array_agg(added.lane order by added.seq) into ids, of_lanes from added;
  if in_lanes and ids is not null then
    perform lanes.add(ids, of_lanes, null);
  end if;
  return (select json_agg(coalesce(o.outcome, json_build_object('outcome', 'accepted')) order by o.n)
    from unnest(outcomes) with ordinality as o(outcome, n));
end
$$;
