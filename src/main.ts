/** The command line: `platen <command>`, one file per command in `cli/`. */
import { keepCompiled } from './cli/compile-cache.ts';

// Before anything else is loaded.
keepCompiled();
const { runCommandLine } = await import('./cli/command-line.ts');
const { AGENT_COMMANDS } = await import('./cli/agent-commands.ts');
const { SERVICE_COMMANDS } = await import('./cli/service-commands.ts');

await runCommandLine({ ...SERVICE_COMMANDS, ...AGENT_COMMANDS });
