/** Whether a version that does not come up may blame the network. */
import { lookAtGateway, lookAtPostgres, lookAtRedis } from '../../queue/index.ts';
import { agentFile, kindOf, platenFile, readConfigFile } from '../config-file.ts';
import { readEnrolment } from '../enrolment.ts';
import { type Places, placesFromEnv, placesOver } from '../places.ts';

const LOOK_MS = 3_000;

/**
 * Whether the servers answer that the program would use. What cannot be read counts as naming none, so that a
 * version that does not come up is not excused.
 * @param config null: there is none
 * @param env the program's, which wins over the file
 * @param dataDir of the agent, which may have enrolled with a service elsewhere
 */
export async function networkIsThere(
  config: string | null,
  env: NodeJS.ProcessEnv,
  dataDir: string,
): Promise<boolean> {
  const enrolment = await readEnrolment(dataDir).catch(() => undefined);
  const { redisUrl, databaseUrl, queuePrefix = 'platen' } = placesOver(told(env), await written(config));
  const looks = [
    ...(redisUrl === undefined ? [] : [lookAtRedis(redisUrl, queuePrefix, LOOK_MS)]),
    ...(databaseUrl === undefined ? [] : [lookAtPostgres(databaseUrl, LOOK_MS)]),
    ...(enrolment === undefined ? [] : [lookAtGateway(enrolment, LOOK_MS, env)]),
  ];
  return (await Promise.allSettled(looks)).every(({ status }) => status === 'fulfilled');
}

function told(env: NodeJS.ProcessEnv): Places {
  try {
    return placesFromEnv(env);
  } catch {
    return {};
  }
}

async function written(config: string | null): Promise<Places> {
  if (config === null) return {};
  const schema = kindOf(config) === 'agent' ? agentFile : platenFile;
  return await readConfigFile<typeof agentFile | typeof platenFile>(config, schema).catch(() => ({}));
}
