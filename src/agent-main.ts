#!/usr/bin/env node
/** The command line of a machine that has the agent and not the service: the same, without what runs a service. */
import { keepCompiled } from './cli/compile-cache.ts';

// Before anything else is loaded.
keepCompiled();
const { runCommandLine } = await import('./cli/command-line.ts');
const { AGENT_COMMANDS } = await import('./cli/agent-commands.ts');

await runCommandLine(AGENT_COMMANDS);
