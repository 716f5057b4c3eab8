#!/bin/sh
# install_meanwhile.sh RESULT PACKAGE...
#
# Installs Debian packages and does not wait: when it is done, the file RESULT has the exit code of
# apt-get, and RESULT.log what it printed.
result=$1
shift
rm -f "$result"
{
    apt-get install -q -y --no-install-recommends "$@"
    echo $? > "$result.new" && mv "$result.new" "$result"
} > "$result.log" 2>&1 < /dev/null &
