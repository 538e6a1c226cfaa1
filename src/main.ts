#!/usr/bin/env node
/** The command line: `platen <command>`, one file per command in `cli/`. */
import { runCommandLine } from './cli/command-line.ts';
import { AGENT_COMMANDS, SERVICE_COMMANDS } from './cli/commands.ts';

await runCommandLine({ ...SERVICE_COMMANDS, ...AGENT_COMMANDS });
