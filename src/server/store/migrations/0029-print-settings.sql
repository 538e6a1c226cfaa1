-- How people set a printer, for all of its formats, over what its agent's configuration says.
alter table platen.lane_settings add column print_settings jsonb not null default '{}';

-- A job is routed anew when its printer was set otherwise since it was looked up.
create or replace function platen.route_stamp(tenant text, printer text, printer_name text) returns text
language sql stable as $$
  select hashtextextended(coalesce(string_agg(concat_ws(E'\x1f', a.id, coalesce(a.tenant_id, ''), p.printer_id, p.name,
    coalesce(s.display_name, ''), coalesce(s.print_settings::text, ''), p.formats::text, p.gone_at is null), E'\x1e' order by p.agent_id, p.printer_id), ''), 0)::text
  from platen.agent_printers p join platen.agents a on a.id = p.agent_id
  left join platen.lane_settings s on s.lane = coalesce(a.tenant_id || '/', '') || p.printer_id
  where (a.tenant_id is null or a.tenant_id = tenant)
    and p.printer_id in (select printer
      union all select n.printer_id from platen.agent_printers n where n.name = printer_name
      union all select substring(l.lane from '[^/]*$') from platen.lane_settings l where l.display_name = printer_name)
$$;
