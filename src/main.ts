#!/usr/bin/env node
/** The command line: `platen <command>`, one file per command in `cli/`. */
import { AGENT_COMMANDS } from './cli/agent-commands.ts';
import { runCommandLine } from './cli/command-line.ts';
import { SERVICE_COMMANDS } from './cli/service-commands.ts';

await runCommandLine({ ...SERVICE_COMMANDS, ...AGENT_COMMANDS });
