#!/bin/sh
# Fetches the jars that a POM of this directory names, with Maven, unless they are there. Needs Java
# 17 or newer to run them.
#
#   jars.sh POM JARS
set -eu

[ $# -eq 2 ] || {
	echo "usage: jars.sh POM JARS" >&2
	exit 2
}
pom=$1 jars=$2

for tool in java mvn; do
	if ! command -v "$tool" >/dev/null 2>&1; then
		echo "jars.sh: no $tool here: install Java 17 and Maven (on Debian: apt-get install openjdk-17-jre-headless maven)" >&2
		exit 1
	fi
done
java=$(java -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.specification\.version = //p')
case $java in
1[7-9] | [2-9][0-9]) ;;
*)
	echo "jars.sh: java is ${java:-of no version that it tells}: want 17 or newer" >&2
	exit 1
	;;
esac

# The stamp is the pom that the jars are of, and is written last.
if ! cmp -s "$pom" "$jars/pom.xml"; then
	echo "jars.sh: fetching the job server into $jars"
	rm -rf "$jars"
	mkdir -p "$jars"
	mvn -B -q -ntp -f "$pom" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$(cd "$jars" && pwd)" >"$jars/maven.log" 2>&1 || {
		cat "$jars/maven.log" >&2
		echo "jars.sh: Maven could not fetch the job server" >&2
		exit 1
	}
	cp "$pom" "$jars/pom.xml"
fi
