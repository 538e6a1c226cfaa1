-- Two secrets at a time while a system is given another one: `old_secret_hash` counts until it is removed or, where there
-- is one, until its end. `last_used_at` is a few minutes off at most.
alter table platen.integrations
  add column last_used_at timestamptz,
  add column secret_created_at timestamptz,
  add column old_secret_hash text,
  add column old_secret_created_at timestamptz,
  add column old_secret_ends_at timestamptz;

-- Labels accepted on days (UTC) that are over, so that a year of them is not counted from the jobs each time; of the days
-- that are not in `usage_days_done` the jobs tell.
create table platen.usage_days (
  tenant_id text not null references platen.tenants (id) on delete cascade,
  day date not null,
  template_id text not null,
  printer_id text not null,
  template_name text not null,
  printer_name text not null,
  jobs bigint not null,
  labels bigint not null,
  primary key (tenant_id, day, template_id, printer_id)
);
create table platen.usage_days_done (day date primary key);
