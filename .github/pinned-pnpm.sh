#!/usr/bin/env bash
# Puts the pnpm of package.json into a folder: for a job that may publish, on its PATH, and for the image of docker. Its bytes are known
# here: npx would run whatever the registry has under this version today.
set -euo pipefail
version=12.21.0
case $(uname -m) in
x86_64)
  name=exe.linux-x64
  sha512=f1eb9f0a31d7b2929b352fe487cab843482a2683aebc2e10e69828b3a5d2f01cbf9c032d3fe8dff05d42c3d7abf38d247c05fe3c9fedb3e03daa72c4f75aef5d
  ;;
aarch64)
  name=exe.linux-arm64
  sha512=e0e8ff885d930c27b695c1f49f84eea4f479b1276b34b725241eb104494b30f094380bc185d7f6ad195268ee4ce1eac9ea0e05cb2ed84d74e97267c5b0acb110
  ;;
*)
  echo "There is no known pnpm for $(uname -m)." >&2
  exit 1
  ;;
esac
folder=${1:-$RUNNER_TEMP/pnpm}
packed=$(mktemp -d)
npm pack --silent --pack-destination "$packed" "@pnpm/$name@$version" >/dev/null
file=$packed/pnpm-$name-$version.tgz
echo "$sha512  $file" | sha512sum --check --quiet
mkdir -p "$folder"
tar -xzf "$file" -C "$folder" --strip-components=1
rm -r "$packed"
if [ -n "${GITHUB_PATH:-}" ]; then echo "$folder" >>"$GITHUB_PATH"; fi
