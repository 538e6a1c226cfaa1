-- Since 0041 the addresses at which IPP offers printers are in platen.lane_settings; nothing reads these.
drop table platen.ipp_printers;
