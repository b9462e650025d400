#!/usr/bin/env bash
# Puts the pnpm of package.json on the PATH of a job that may publish. Its bytes are known here: npx would run whatever the registry
# has under this version today.
set -euo pipefail
version=12.21.0
sha512=f1eb9f0a31d7b2929b352fe487cab843482a2683aebc2e10e69828b3a5d2f01cbf9c032d3fe8dff05d42c3d7abf38d247c05fe3c9fedb3e03daa72c4f75aef5d
file=$RUNNER_TEMP/pnpm-exe.linux-x64-$version.tgz
npm pack --silent --pack-destination "$RUNNER_TEMP" "@pnpm/exe.linux-x64@$version" >/dev/null
echo "$sha512  $file" | sha512sum --check --quiet
mkdir -p "$RUNNER_TEMP/pnpm"
tar -xzf "$file" -C "$RUNNER_TEMP/pnpm" --strip-components=1
echo "$RUNNER_TEMP/pnpm" >>"$GITHUB_PATH"
