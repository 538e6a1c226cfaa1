-- What somebody has drawn that would not print yet, at most one for each template. Jobs print the template as it was saved before.
create table platen.template_drafts (
  template_id text primary key references platen.templates (id) on delete cascade,
  body json not null,
  who text,
  at timestamptz not null default now()
);
