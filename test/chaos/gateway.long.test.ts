import { testMinuteOfFaults } from './minute.ts';

testMinuteOfFaults('gateway', 2);
