-- What the service's https address last showed, as any instance has seen it.
create table platen.certificates (
  host text primary key,
  starts_at timestamptz not null,
  ends_at timestamptz not null
);
