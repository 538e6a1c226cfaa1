/** The command line of a machine with the agent only: `platen` without the commands that run a service. */
import { keepCompiled } from './cli/compile-cache.ts';

// Before anything else is loaded.
keepCompiled();
const { runCommandLine } = await import('./cli/command-line.ts');
const { AGENT_COMMANDS } = await import('./cli/agent-commands.ts');

await runCommandLine(AGENT_COMMANDS);
