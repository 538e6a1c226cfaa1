-- What people say of a printer, to find it in the hall: where it stands, which group it belongs to, and anything else.
alter table platen.lane_settings
  add column place text,
  add column group_name text,
  add column note text;
