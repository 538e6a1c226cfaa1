-- IPP offers a printer once a person has said so. The address is the printer's, with a UUID that nobody guesses and that stays when
-- it is offered again; a tenant is whoever comes with a key. Instances of the release before, which run beside this one while they are
-- restarted one after the other, still read platen.ipp_printers: the next release drops it.
alter table platen.lane_settings
  add column ipp_uuid uuid unique,
  -- Null: it is not offered.
  add column offered_at timestamptz;
