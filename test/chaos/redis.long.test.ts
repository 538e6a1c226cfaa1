import { testMinuteOfFaults } from './minute.ts';

testMinuteOfFaults('redis');
