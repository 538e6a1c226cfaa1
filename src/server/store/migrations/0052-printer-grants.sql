-- The tenants that a shared printer is granted to; null: it is every tenant's.
alter table platen.lane_settings add column granted_to text[];

-- Whether a tenant may use a printer: the one rule for it. `of_scope` and `granted_to` are the printer's. Tenant null: whoever may do
-- what concerns all tenants.
create function platen.may_use(tenant text, of_scope text, granted_to text[]) returns boolean language sql immutable as $$
  select tenant is null or coalesce(of_scope = tenant, granted_to is null or tenant = any(granted_to))
$$;

-- Whether an agent is a tenant's, or shared with a printer that the tenant may use, or with none at all.
create function platen.may_see_agent(tenant text, agent text, of_scope text) returns boolean language sql stable as $$
  select coalesce(of_scope = tenant, (
    select bool_or(platen.may_use(tenant, null, s.granted_to))
    from platen.agent_printers p left join platen.lane_settings s on s.lane = p.printer_id
    where p.agent_id = agent and p.gone_at is null), true)
$$;

-- A tenant of the same ID that comes later has none of these.
create function platen.forget_grants() returns trigger language plpgsql as $$
begin
  update platen.lane_settings set granted_to = array_remove(granted_to, old.id) where old.id = any(granted_to);
  return null;
end $$;
create trigger forget_grants after delete on platen.tenants for each row execute function platen.forget_grants();

-- As it was, and: what the tenant may not use is as if it were not there.
create or replace function platen.route_stamp(tenant text, printer text, printer_name text) returns text
language sql stable as $$
  select hashtextextended(coalesce(string_agg(concat_ws(E'\x1f', a.id, coalesce(a.tenant_id, ''), p.printer_id, p.name,
    coalesce(s.display_name, ''), coalesce(s.print_settings::text, ''), p.formats::text, p.gone_at is null,
    exists (select from platen.virtual_printers v where v.agent_id = p.agent_id and v.uri = p.uri)),
    E'\x1e' order by p.agent_id, p.printer_id), ''), 0)::text
  from platen.agent_printers p join platen.agents a on a.id = p.agent_id
  left join platen.lane_settings s on s.lane = coalesce(a.tenant_id || '/', '') || p.printer_id
  where platen.may_use(tenant, a.tenant_id, s.granted_to)
    and p.printer_id in (select printer
      union all select n.printer_id from platen.agent_printers n where n.name = printer_name
      union all select substring(l.lane from '[^/]*$') from platen.lane_settings l where l.display_name = printer_name)
$$;

-- As it was, and: to tenants that may use the printer.
create or replace function platen.note_printer_event() returns trigger language plpgsql as $$
declare
  of_scope text;
  of_lane text;
  printer record;
  event text;
begin
  select a.tenant_id into of_scope from platen.agents a where a.id = new.agent_id;
  of_lane := coalesce(of_scope || '/', '') || new.printer_id;
  -- Two agents that report at once would not see each other's word.
  if exists (select from platen.agent_printers p join platen.agents a on a.id = p.agent_id
      where p.printer_id = new.printer_id and p.agent_id <> new.agent_id and a.tenant_id is not distinct from of_scope) then
    perform pg_advisory_xact_lock(hashtextextended('platen.attention ' || coalesce(of_scope, ''), 0));
  end if;
  select p.name, p.state, p.reasons, p.state = 'stopped' or 'offline' = any(p.reasons) as needs_somebody into printer
    from platen.agent_printers p join platen.agents a on a.id = p.agent_id
    where p.printer_id = new.printer_id and a.tenant_id is not distinct from of_scope and p.gone_at is null
      and (a.id = new.agent_id or a.online and a.seen_at > now() - interval '45 seconds')
    order by (p.state = 'unknown')::int + ('offline' = any(p.reasons))::int, p.since desc limit 1;
  if not found then
    return null;
  end if;
  if printer.needs_somebody then
    event := 'printer.attention';
    insert into platen.printer_attention (lane) values (of_lane) on conflict do nothing;
  else
    event := 'printer.ready';
    delete from platen.printer_attention where lane = of_lane;
  end if;
  if found then
    insert into platen.webhook_messages (webhook_id, event, printer)
      select w.id, event, json_build_object('id', new.printer_id, 'name', coalesce(s.display_name, printer.name),
        'status', printer.state, 'reasons', printer.reasons)
      from platen.webhooks w left join platen.lane_settings s on s.lane = of_lane
      where w.disabled_at is null and event = any(w.events) and not coalesce(s.hidden, false)
        and platen.may_use(w.tenant_id, of_scope, s.granted_to) and (of_scope is not null or not exists (
          select from platen.agent_printers p join platen.agents a on a.id = p.agent_id
          where p.printer_id = new.printer_id and p.gone_at is null and a.tenant_id = w.tenant_id));
  end if;
  return null;
end $$;

-- As it was, and: to a shared printer that the tenant may use (else `stale`: it was granted when it was looked up).
create or replace function platen.accept_jobs(tenant text, asked json, payloads text[], keys_kept interval, in_lanes boolean, is_test boolean)
returns json
language plpgsql as $$
declare
  quota bigint;
  printer_commands boolean;
  must_fit boolean;
  search_key bytea;
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
  select case when is_test then t.test_labels else t.quota_labels end, t.printer_commands, t.media_must_fit, t.search_key
      into quota, printer_commands, must_fit, search_key
    from platen.tenants t where t.id = tenant for key share;
  if not found then
    return (select json_agg(json_build_object('outcome', 'tenant-gone')) from json_array_elements(asked));
  end if;
  if quota is null then counted_in := floor(random() * 16); end if;

  for job in
    select r.* from json_to_recordset(asked) as r(n integer, id uuid, "apiKey" text, key text, "bodyHash" text, answer json,
      labels bigint, "printerCommands" boolean, template text, "templateStamp" text, "printerId" text, "printerName" text,
      "routeStamp" text, "mediaMustFit" boolean, scope text, printer text)
    order by r.key, r.n
  loop
    if job."apiKey" is not null and not exists (select from platen.integrations i
        where i.api_key = job."apiKey" and i.tenant_id = tenant and i.test = is_test and i.revoked_at is null) then
      outcomes[job.n] := json_build_object('outcome', 'revoked');
    elsif (job."printerCommands" and not printer_commands) or job."templateStamp" is not null and (job."printerCommands" <> printer_commands
        or job."mediaMustFit" <> must_fit
        or not exists (select from platen.templates t
          where t.tenant_id = tenant and t.id = job.template and t.xmin::text = job."templateStamp")
        or platen.route_stamp(tenant, job."printerId", job."printerName") <> job."routeStamp")
        or is_test and not platen.only_virtual(job.scope, job.printer)
        or job.scope is null and not platen.may_use(tenant, null,
          (select l.granted_to from platen.lane_settings l where l.lane = job.printer)) then
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
    insert into platen.usage as u (tenant_id, month, test, shard, labels) values (tenant, this_month, is_test, counted_in, wanted)
      on conflict (tenant_id, month, test, shard) do update set labels = u.labels + excluded.labels;
    if quota is not null then
      -- Under the lock of that row this sees all that others have taken, and our own.
      select sum(u.labels) - wanted into used from platen.usage u where u.tenant_id = tenant and u.month = this_month and u.test = is_test;
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
          where u.tenant_id = tenant and u.month = this_month and u.test = is_test and u.shard = counted_in;
      end if;
    end if;
  end if;

  with added as (
    insert into platen.jobs (id, tenant_id, account, template_id, template_name, printer_id, printer_name,
        requested_printer, format, orientation, copies, records, payload, created_at, scope, dispatched_at, template_hash,
        first_value, test)
      select r.id, tenant, r.account, r.template, r."templateName", r.printer, r."calledPrinter", r."askedPrinter", r.format,
        r.orientation, r.copies, r.records, payloads[r.n]::json, r."createdAt", r.scope, case when in_lanes then now() end,
        decode(r."templateHash", 'hex'), r."firstValue", is_test
      from json_to_recordset(asked) as r(n integer, id uuid, account text, template text, "templateName" text, printer text,
        "calledPrinter" text, "askedPrinter" text, format text, orientation text, copies integer, records integer,
        "createdAt" timestamptz, scope text, "templateHash" text, "firstValue" text)
      where accepted[r.n] order by r.n
    returning platen.jobs.id, platen.jobs.lane, platen.jobs.seq
  )
  select array_agg(added.id::text order by added.seq), array_agg(added.lane order by added.seq) into ids, of_lanes from added;
  insert into platen.job_values (tenant_id, mark, created_at, job_id)
    select tenant, platen.value_mark(search_key, v.value), r."createdAt", r.id
    from json_to_recordset(asked) as r(n integer, id uuid, "createdAt" timestamptz, "values" json)
    cross join json_array_elements_text(r."values") as v(value)
    where accepted[r.n] order by 1, 2, 3, 4
    on conflict do nothing;
  if in_lanes and ids is not null then
    perform lanes.add(ids, of_lanes, null);
  end if;
  return (select json_agg(coalesce(o.outcome, json_build_object('outcome', 'accepted')) order by o.n)
    from unnest(outcomes) with ordinality as o(outcome, n));
end
$$;
