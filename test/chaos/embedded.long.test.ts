import { testMinuteOfFaults } from './minute.ts';

testMinuteOfFaults('embedded');
