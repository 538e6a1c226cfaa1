-- The queue has not been told yet whether this lane is held: the sweep tells it.
alter table platen.lane_settings add column mark_due boolean not null default false;
