-- What a template was each time that somebody saved it, as it was sent; the newest is what it is now. `who`: null where
-- it was saved before this was written down.
create table platen.template_versions (
  template_id text not null references platen.templates (id) on delete cascade,
  number integer not null,
  name text not null,
  body json not null,
  who text,
  at timestamptz not null default now(),
  primary key (template_id, number)
);
insert into platen.template_versions (template_id, number, name, body, at)
  select id, 1, name, body, updated_at from platen.templates;
