#!/usr/bin/env node
/** The command line of a machine that has the agent and not the service: the same, without what runs a service. */
import { AGENT_COMMANDS } from './cli/agent-commands.ts';
import { runCommandLine } from './cli/command-line.ts';

await runCommandLine(AGENT_COMMANDS);
